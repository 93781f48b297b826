import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

/*
 * A unit test starts no process and no server, by whatever detour: Vitest runs this before each file of test/unit, so that
 * every way to start one throws.
 */
function refuse(what: string) {
  return (): never => {
    throw new Error(`a unit test may not start a ${what}: it belongs in test/integration`);
  };
}

const starters = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const;
for (const starter of starters) Object.assign(childProcess, { [starter]: refuse('process') });
Object.assign(childProcess.ChildProcess.prototype, { spawn: refuse('process') });
net.Server.prototype.listen = refuse('server');
// What was imported by name follows.
syncBuiltinESMExports();
