/**
 * What runs on a host over ssh beside its own programs: fixed texts for its `sh`, which take everything as arguments. They need
 * Linux's /proc and the usual programs of GNU. `$$` is never a word of a caller, and nothing of an argument is read as code.
 */

/**
 * Files by their resolved paths, each after a line with the mark. A path is opened, and then the kernel is asked where the
 * descriptor leads: only if it is where it was checked, and a regular file, anything of it is sent. So a folder or a file that is
 * swapped for a link after the check shows nothing. A pipe put there in that moment is waited for until the time is up.
 * Input: the mark. Arguments: bytes, `head` or `tail`, paths.
 */
export const READ_FILES = `
IFS= read -r mark; bytes=$1; part=$2; shift 2
for file do
  printf '%s\\n' "$mark"
  if ! [ -e "$file" ]; then echo missing
  elif ! [ -f "$file" ]; then echo other
  elif ! [ -r "$file" ]; then echo unreadable
  else
    {
      if [ "$(readlink -n /proc/self/fd/3; echo x)" = "\${file}x" ] && [ -f /proc/self/fd/3 ]
      then stat -L -c '%s %f' /proc/self/fd/3 && "$part" -c "$bytes" <&3
      else echo changed
      fi
    } 3<"$file" || echo unreadable
  fi
done`;

/**
 * What is below a folder, links not followed, each entry ended by NUL; first the host's own time. The folder is entered, and then
 * it is asked where that is. Arguments: the resolved path, depth, how many entries.
 */
export const WALK = `
printf '%s\\0' "$(date +%s.%N)"
if [ -d "$1" ] && ! [ -L "$1" ]; then
  cd -P -- "$1" && [ "$(readlink -n /proc/self/cwd; echo x)" = "\${1}x" ] || exit 3
  set -- . "$2" "$3"
fi
find "$1" -mindepth 0 -maxdepth "$2" -printf '%y\\t%d\\t%s\\t%b\\t%T@\\t%P\\0' | head -z -n "$3"`;

/**
 * A diagnostic command under limits of memory, files and time of the processor. The files it reads are opened first, and checked
 * like those above; it is given their descriptors. Arguments: how many files, their resolved paths, the command.
 * Exit codes of its own: 125 a file is another one by now, 127 there is no such program.
 */
export const DIAGNOSE = `
files=$1; shift; fd=3; cd /
while [ "$files" -gt 0 ]; do
  [ -f "$1" ] && [ -r "$1" ] || exit 125
  eval "exec $fd<\\"\\$1\\""
  [ "$(readlink -n /proc/self/fd/$fd; echo x)" = "\${1}x" ] && [ -f /proc/self/fd/$fd ] || exit 125
  shift; fd=$((fd + 1)); files=$((files - 1))
done
command -v "$1" >/dev/null || exit 127
if command -v prlimit >/dev/null
then exec prlimit --as=1073741824 --fsize=0 --core=0 --nofile=64 --cpu=30 -- "$@"
else exec "$@"
fi`;

/** A pid file by the path that it had when it was checked: when it was written, what time it is, and its text. */
export const PID_FILE = `
if [ -L "$1" ]; then echo link; exit; fi
if ! [ -f "$1" ]; then echo other; exit; fi
if ! [ -r "$1" ]; then echo unreadable; exit; fi
{
  if [ "$(readlink -n /proc/self/fd/3; echo x)" = "\${2}x" ] && [ -f /proc/self/fd/3 ]
  then stat -L -c '%s %Y' /proc/self/fd/3 && date +%s && head -c 4096 <&3
  else echo changed
  fi
} 3<"$1" || echo unreadable`;

/**
 * The last check before a restart, on the machine that does it: what \`deadline-guard.ts\` is on this one. Sentry may be paused
 * and a line may hang between its own look and this moment. Arguments: boot id (empty: none), hundredths of a second since the
 * boot by which it must have begun, pid (0: none), its start in ticks, \`quiet\` or \`heard\`, then the command.
 * Exit codes: those of \`deadline-guard.ts\`.
 */
export const RESTART = `
boot=$1; until=$2; pid=$3; ticks=$4; output=$5; shift 5
fields() { set -f; set -- \${stat##*") "}; set +f; state=$1; shift 19; start=$1; }
if [ -n "$boot" ]; then
  [ "$(cat /proc/sys/kernel/random/boot_id)" = "$boot" ] || exit 245
  read -r up idle < /proc/uptime
  [ "\${up%.*}\${up#*.}" -lt "$until" ] || exit 245
fi
if [ "$pid" != 0 ]; then
  stat=$(cat "/proc/$pid/stat" 2>/dev/null) || exit 246
  fields
  [ "$start" = "$ticks" ] && [ "$state" != Z ] && [ "$state" != X ] || exit 246
fi
cd /
[ -x "$1" ] || exit 247
if [ "$output" = quiet ]; then exec >/dev/null 2>&1; fi
exec "$@" </dev/null`;

/** Which of these the host lacks, a line each: what every read needs, and whether other accounts' processes can be seen. */
export const LACKS = `
for program do command -v "$program" >/dev/null || echo "$program is not installed"; done
[ -r /proc/uptime ] || echo 'there is no /proc'
[ -r /proc/1/stat ] || echo "other accounts' processes are hidden from this one (hidepid of /proc)"
find /proc/self -maxdepth 0 -printf '' 2>/dev/null || echo 'find is not that of GNU findutils'
printf 'a\\0' | head -z -n 1 >/dev/null 2>&1 || echo 'head is not that of GNU coreutils'`;
