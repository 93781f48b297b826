/** Structured log: fields first, then the sentence, as pino has it. Never given a secret or a whole payload. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
