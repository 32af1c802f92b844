export interface AcceptedReport {
  videoId: string;
  transcriptionId: string;
  sizeBytes: number;
  /** When the upload started. */
  createdAt: Date;
  /** When its acceptance began: after its last byte was stored durably, or when the sweep found it complete. */
  uploadedAt: Date;
  acceptedAt: Date;
}
