import { OpsError } from '../../../core/errors.ts';

/** For a pid file that is there and says nothing: whoever runs the service, or Sentry, has to look. */
export function pidFileNotRead(message: string, cause?: unknown): OpsError {
  return new OpsError('HOST_PID_FILE', message, {
    hint: "Look whether the pid file is an ordinary one that Sentry's account may read, or correct pid_file in sentry.yaml.",
    cause,
  });
}
