import { until } from '../until.ts';
import { type ContainerOptions, OWN, type ShopEngine } from './shop-engine.ts';

/** Containers of the shop, as faults make, look at and tell them things. */
export type ShopContainers = ReturnType<typeof shopContainers>;

export function shopContainers(engine: ShopEngine) {
  /** Undefined when there is none. */
  const look = async (name: string) => {
    const [found] = await engine.api.listContainers({
      all: true,
      filters: { ...OWN, name: [`^/?${name}$`] },
    });
    return found && engine.api.getContainer(found.Id).inspect();
  };
  const runs = async (name: string) => (await look(name))?.State.Running ?? false;
  /** 0 while it does not run. */
  const upSeconds = async (name: string) => {
    const state = (await look(name))?.State;
    return state?.Running ? (Date.now() - Date.parse(state.StartedAt)) / 1_000 : 0;
  };
  return {
    engine,
    look,
    runs,
    upSeconds,
    async make(name: string, sh: string, options: Omit<ContainerOptions, 'sh'> = {}): Promise<void> {
      await engine.remove(name);
      await engine.run(name, { ...options, sh });
    },
    /** Makes a file in it, for `told`. */
    async tell(name: string, file: string): Promise<void> {
      const exec = await engine.api
        .getContainer(name)
        .exec({ Cmd: ['sh', '-c', `echo > ${file}`], AttachStdout: true });
      (await exec.start({})).resume();
    },
    /** What has just started has not shown that it works. */
    atWork: (name: string, seconds = 3) =>
      until(`${name} to be at its work`, async () => (await upSeconds(name)) > seconds),
    ends: (name: string) => until(`${name} to end`, async () => !(await runs(name))),
    /** Its restart policy has started it more than once. */
    loops: (name: string) =>
      until(`${name} to be started again`, async () => ((await look(name))?.RestartCount ?? 0) > 1),
    stop: (name: string) => engine.api.getContainer(name).stop({ t: 2 }),
    async remove(...names: readonly string[]): Promise<void> {
      await Promise.all(names.map((name) => engine.remove(name)));
    },
  };
}

/** Follows a stop, and looks every half second for what it is told: files, as nothing else gets in. */
export const service = (name: string, work: string): string => `
trap "exit 0" TERM
echo "INFO ${name} starts"
while true; do
  ${work}
  echo "INFO request GET /${name.replace('shop-', '')} 200 12ms"
  sleep 0.5
done`;

/** What ends it is gone with it: one more start helps. */
export const told = (file: string, does: string): string => `if [ -e ${file} ]; then rm ${file}; ${does}; fi`;
