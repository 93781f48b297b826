import type { Grammar } from './grammar.ts';
import { curl } from './grammars/curl.ts';
import { du, ls, lsof } from './grammars/files.ts';
import { journalctl } from './grammars/journalctl.ts';
import { dmesg, hostname, iostat, top, uname, vmstat } from './grammars/kernel.ts';
import { dig, ip } from './grammars/network.ts';
import { ping } from './grammars/ping.ts';
import { ps } from './grammars/ps.ts';
import { netstat, ss } from './grammars/sockets.ts';
import { df, free, id, nproc, uptime, who } from './grammars/system.ts';
import { systemctl } from './grammars/systemctl.ts';
import { tail } from './grammars/tail.ts';

/** Every diagnostic command there is. */
export const grammars: readonly Grammar[] = [
  ps,
  netstat,
  ss,
  curl,
  tail,
  df,
  free,
  uptime,
  nproc,
  systemctl,
  ping,
  journalctl,
  lsof,
  vmstat,
  iostat,
  dmesg,
  du,
  ls,
  ip,
  dig,
  uname,
  hostname,
  top,
  id,
  who,
];
