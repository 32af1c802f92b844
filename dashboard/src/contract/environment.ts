export interface EnvironmentView {
  id: string;
  name: string;
  aiTranscription: boolean;
  /** Origins of pages that may upload, or `*` for any. */
  allowedOrigins: string[];
  createdAt: string;
}
