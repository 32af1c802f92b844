/** Report on an upload that was accepted and will be transcribed. */
export interface AcceptedReport {
  videoId: string;
  transcriptionId: string;
  sizeBytes: number;
  /** When the upload started. */
  createdAt: Date;
  /** When its last byte was durable. */
  uploadedAt: Date;
  acceptedAt: Date;
}
