/** The two levels a supervisor of child processes needs; a pino logger fits. */
export interface ChildLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}
