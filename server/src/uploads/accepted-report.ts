export interface AcceptedReport {
  videoId: string;
  transcriptionId: string;
  sizeBytes: number;
  /** When the upload started. */
  createdAt: Date;
  /** When its last byte was stored durably. */
  uploadedAt: Date;
  acceptedAt: Date;
}
