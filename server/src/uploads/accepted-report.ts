/** What is told of an upload when it has been taken in and is to be transcribed. */
export interface AcceptedReport {
  videoId: string;
  transcriptionId: string;
  sizeBytes: number;
  /** When the upload was begun. */
  createdAt: Date;
  /** When its last byte was safe. */
  uploadedAt: Date;
  acceptedAt: Date;
}
