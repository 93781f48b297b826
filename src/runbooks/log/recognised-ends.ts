/** A reason to end that a line of a log states. */
export interface RecognisedEnd {
  readonly kind: string;
  /** Completes "it stopped: …". */
  readonly means: string;
  /** What mends it. */
  readonly advice: string;
  /** Whether one more start may do, without anything being changed. */
  readonly restart: boolean;
}

interface Row extends RecognisedEnd {
  readonly patterns: readonly RegExp[];
  /** It says that something went wrong, and not what. */
  readonly generic?: true;
}

/** Words for one thing, in the order in which they may stand, in one sentence. */
const BETWEEN = '(?:(?![.;] ).){0,60}';
const near = (a: string, b: string): RegExp =>
  new RegExp(`(?:${a})${BETWEEN}(?:${b})|(?:${b})${BETWEEN}(?:${a})`, 'i');

const REFUSED_WORDS =
  'unknown|unrecogni[sz]ed|invalid|illegal|unsupported|unexpected|bad|duplicate|obsolete|deprecated';
const OPTION_WORDS =
  'options?|flags?|switch|arguments?|parameters?|directives?|settings?|propert(?:y|ies)|keys?|fields?|command(?:-| )line';
const GONE_WORDS =
  'expired|not (?:yet )?valid|no longer valid|invalid|revoked|exceeded|missing|not found|required|denied|rejected|no seats?|not licen[sc]ed|ended|over';

/**
 * How a process says why it ends: names of errors and their texts (errno(3), strerror(3)), signals and exit codes (signal(7),
 * 128 + n), and what loaders, runtimes and option parsers print. The first row that fits a line counts, so that what names an
 * object more closely stands before what only names an error.
 */
const ROWS: readonly Row[] = [
  row('licence', 'its licence is not valid', 'Renew or mend the licence', false, [
    near('licen[sc]e|subscription|entitlement', GONE_WORDS),
    /\b(?:trial|evaluation)(?: period)?\b.{0,30}\b(?:expired|ended|over)\b/i,
  ]),
  row('certificate', 'a certificate it uses is not accepted', 'Renew or mend the certificate', false, [
    near(
      '\\bcert(?:ificate)?s?\\b|x\\.?509',
      'expired|not (?:yet )?valid|invalid|unknown authority|verify fail|verification fail|self[- ]signed|unable to get|mismatch|does not match|revoked|untrusted',
    ),
    /\bcert_has_expired\b|\bssl(?:v3)?[ _]alert\b|\btls\b.{0,40}\b(?:handshake fail|bad certificate)|\bkey values mismatch\b|unable_to_(?:verify|get)|\bprivate key does not match\b/i,
  ]),
  row(
    'port_in_use',
    'the address or port it listens on is in use',
    'Find out who holds the port, or give it another',
    false,
    [
      /\bEADDRINUSE\b|address (?:is )?already in use|\baddress in use\b/i,
      /\b(?:port|socket|endpoint|address)\b.{0,40}\b(?:already |still )?(?:in use|taken|allocated|occupied|bound)\b/i,
    ],
  ),
  row(
    'address',
    'the address it listens on is not one of this machine',
    'Mend the address it is to listen on',
    false,
    [/\bEADDRNOTAVAIL\b|cannot assign requested address|can't assign requested address/i],
  ),
  row('disk_full', 'there is no room left on its disk', 'Make room on the disk', false, [
    /\bENOSPC\b|no space left on device|\bEDQUOT\b|disk quota exceeded|\bdisk (?:is )?full\b|not enough (?:disk )?space|insufficient disk space/i,
  ]),
  row(
    'file_too_large',
    'a file it writes has reached its largest size',
    'Make the file smaller, or raise the limit',
    false,
    [/\bEFBIG\b|file too large|\bSIGXFSZ\b|file size limit exceeded/i],
  ),
  row('read_only', 'what it writes to is read-only', 'Look why it is mounted read-only', false, [
    /\bEROFS\b|read-only file ?system/i,
  ]),
  row(
    'disk_error',
    'its disk or a device does not answer as it should',
    'Look at the disk and the kernel log',
    false,
    [
      /\bEIO\b|input\/output error|\bI\/O error\b|\bENXIO\b|\bENODEV\b|no such device|\bESTALE\b|stale (?:NFS )?file handle/i,
    ],
  ),
  row('out_of_memory', 'it got no more memory', 'Give it more memory, or find what takes it', true, [
    /\bENOMEM\b|(?:cannot|can't|could not|failed to|unable to) allocate memory|out of memory|heap (?:limit|out)|OutOfMemoryError|\bMemoryError\b|\bbad_alloc\b|memory allocation of \d+ bytes failed|\boom[-_ ]?kill|OOMKilled|memory exhausted|allowed memory size/i,
  ]),
  row(
    'file_descriptors',
    'it ran out of file descriptors',
    'Raise its limit of open files, or find what it leaves open',
    true,
    [/\bEMFILE\b|\bENFILE\b|too many open files|file descriptor limit/i],
  ),
  row(
    'process_limit',
    'it could start no more threads or processes',
    'Raise its limit of processes, or find what starts so many',
    true,
    [
      /unable to create (?:new )?(?:native )?thread|can'?t start new thread|fork.{0,40}resource temporarily unavailable|pthread_create failed|cannot fork|fork failed|retry: resource temporarily unavailable/i,
    ],
  ),
  row(
    'loader',
    'a shared library it needs is missing or does not fit',
    'Install the library in the version it needs',
    false,
    [
      /error while loading shared libraries|cannot open shared object file|symbol lookup error|undefined symbol|version [`'"]?\S+['"]? not found \(required by|relocation error|wrong ELF class|\bdyld\b.{0,40}(?:not loaded|missing)|DLL load failed|UnsatisfiedLinkError|error relocating/i,
    ],
  ),
  row(
    'wrong_program',
    'its program is not made for this machine',
    'Install the build for this machine',
    false,
    [
      /\bENOEXEC\b|exec format error|cannot execute binary file|bad ELF interpreter|bad CPU type|\bbad interpreter\b|cannot execute: required file not found/i,
    ],
  ),
  row('missing_module', 'a module it needs is not installed', 'Install the module, or mend its path', false, [
    /(?:cannot find (?:module|package)|module not found|could not find \S+ in locally installed gems|ModuleNotFoundError|ERR_MODULE_NOT_FOUND|\bImportError\b|no module named|ClassNotFoundException|NoClassDefFoundError|could not find or load main class|cannot load such file|can't locate \S+ in @INC|module '[^']+' not found|package \S+ is not in|could not find gem|could not load (?:plugin|module|extension)|failed to load (?:plugin|module|extension)|failed opening required)/i,
  ]),
  row(
    'missing_program',
    'a program it calls is not installed',
    'Install the program, or mend its path',
    false,
    [
      /command not found|: not found$|executable file not found|not recogni[sz]ed as an internal or external command|\bexit(?:ed)?(?: with)?(?: status| code)?:? 127\b|status=203\/EXEC/i,
    ],
  ),
  row(
    'another_instance',
    'another one of it seems to run, or its lock was left behind',
    'Look whether another one runs; if none does, remove its lock',
    false,
    [
      /another (?:instance|process|server|copy|\w+) (?:is|seems|appears|may be|might be) .{0,20}(?:running|using)|already running|lock ?file .{0,60}(?:exists|held|locked)|(?:could not|cannot|can't|failed to|unable to) (?:acquire|obtain|get|take|lock)\b.{0,40}\block|unable to lock|(?:database|file|directory|table) is locked|pid ?file .{0,60}exists|stale (?:pid|lock)/i,
    ],
  ),
  row('setting_missing', 'a setting or variable it needs is not set', 'Set what it names', false, [
    /unbound variable|parameter (?:null or )?not set|[Cc]ould not resolve placeholder|\bkey not found: [:"'][A-Z][A-Z0-9_]+|\bKeyError: ['"][A-Z][A-Z0-9_]+['"]/,
    near(
      '\\b(?:variable|env(?:ironment)?|setting|configuration|config|parameter|option|key|secret|token|password|url|[A-Z][A-Z0-9]*_[A-Z0-9_]+)\\b',
      '(?:is|was|are) undefined|(?:is |was |are |be )?(?:not set|unset|not defined|not provided|not specified|not configured|must be set|must be provided|must be specified|must not be empty|missing value|is required|is missing|is empty|required but)',
    ),
    /\b(?:missing|required|no|expected|need)\b.{0,30}\b(?:environment variable|env var|variable|setting|configuration|config (?:value|key|option))\b|missing (?:required )?\S*(?:url|key|token|secret|password|dsn|host|[A-Z]+_[A-Z_]+)\b/i,
  ]),
  row(
    'secret_key',
    'it cannot use a key or certificate that it was given',
    'Mend the key or certificate',
    false,
    [
      /(?:invalid|wrong|bad|incorrect) (?:key|iv|nonce|initiali[sz]ation vector) ?(?:length|size)?$|key length|bad decrypt|wrong final block length|unable to authenticate data|decrypt\w* (?:error|failed|failure)|(?:could not|cannot|failed to|unable to) decrypt|keystore .{0,60}(?:tampered|incorrect)|passphrase|\bPEM (?:routines|lib)\b|\bno start line\b/i,
    ],
  ),
  row(
    'option',
    'it does not know an option or setting it was given',
    'Take the option back, or write it as this version knows it',
    false,
    [
      near(`\\b(?:${REFUSED_WORDS})\\b`, `\\b(?:${OPTION_WORDS})\\b`),
      /flag provided but not defined|undefined (?:option|flag|argument|parameter|directive|setting|property|key)\b|\bunknown variable\b|no such option|does not take|requires an argument|requires a value|(?:option|argument|flag) \S+ (?:is )?not (?:known|recogni[sz]ed|allowed|supported)|too (?:many|few) arguments|missing (?:required )?(?:argument|operand)|Unrecogni[sz]ed VM option|not a recogni[sz]ed/i,
    ],
  ),
  row(
    'authentication',
    'what it connects to does not accept its name or password',
    'Mend the credentials it connects with',
    false,
    [
      /password authentication failed|authentication (?:failed|failure|required|error)|access denied for user|unauthori[sz]ed|invalid (?:credentials|password|api key|token)|login failed|WRONGPASS|NOAUTH|role "[^"]+" does not exist|permission denied for (?:table|schema|database|relation|sequence|function)|\b(?:401|403)\b.{0,20}(?:unauthori[sz]ed|forbidden)|pg_hba/i,
    ],
  ),
  row(
    'schema',
    'its data is of another version than it expects',
    'Bring data and program to versions that fit',
    false,
    [
      /(?:relation|table|column|database) "?[\w.]+"? does not exist|no such (?:table|column)|unknown (?:table|column|database)|\bmigrations?\b.{0,40}\b(?:pending|failed|not applied|missing|required)|database files are incompatible|incompatible (?:version|schema|format|data)|(?:schema|protocol|data|format|api|database) version|version mismatch|(?:newer|older|higher|lower) version|downgrade|requires (?:\w+ )?version|unsupported (?:class file )?(?:major )?version|UnsupportedClassVersionError|unsupported engine/i,
    ],
  ),
  row(
    'clock',
    'its clock and the one of what it talks to differ too much',
    'Set the clocks right (NTP)',
    false,
    [/clock skew|time ?too ?skewed|clocks? (?:are |is )?(?:out of sync|not synchroni[sz]ed)/i],
  ),
  row('corrupt', 'data it reads is damaged', 'Restore the data it names', false, [
    /\bcorrupt(?:ed|ion)?\b|checksum (?:mismatch|error|failed)|bad (?:magic|checksum|file format)|invalid magic|magic number|file is not a database|malformed (?:database|data|record)|could not locate a valid checkpoint|invalid (?:page|record|header)|unexpected end of (?:file|archive|data)/i,
  ]),
  row('dependency', 'something it connects to does not answer', 'Look at what it connects to', false, [
    /\bECONNREFUSED\b|connection (?:was )?refused|connection refused|refused the connection|\bECONNRESET\b|connection (?:was )?reset|\bETIMEDOUT\b|(?:connection|connect|connecting|request|read|dial|i\/o|lookup|query|operation).{0,40}tim(?:ed|e) ?out|timed out waiting for (?:a )?(?:connection|response|reply|answer)|timeout (?:while|waiting|connecting|exceeded|expired)|\bE(?:HOST|NET)UNREACH\b|no route to host|(?:network|host) (?:is )?unreachable|\bENOTFOUND\b|\bEAI_\w+|name resolution|name or service not known|no such host|(?:could not|cannot|failed to|unable to) resolve (?:the )?(?:host|address|name|domain|server|upstream|DNS|['"]?[\w-]+\.[\w.-]+)|host not found in upstream|nodename nor servname|unknown host|UnknownHostException|getaddrinfo|temporary failure in name|server misbehaving|too many clients|too many connections|remaining connection slots|could not connect|cannot connect|failed to connect|unable to connect|connection (?:failed|closed|lost|terminated|aborted)|server closed the connection|lost connection|broken pipe|\bEPIPE\b|service unavailable|bad gateway|no (?:brokers?|nodes?|hosts?|servers?) (?:are )?available|not reachable|is unreachable/i,
  ]),
  row('permission', 'it may not use something it needs', 'Give its account the right that it lacks', false, [
    /\bEACCES\b|\bEPERM\b|permission denied|operation not permitted|PermissionError|access (?:is )?denied|AccessDenied|must be run as root|requires root|not permitted|insufficient (?:permissions?|privileges?)|bad (?:owner(?:ship)? or )?permissions|(?:file|directory|folder|key)\b.{0,60}\bhas invalid permissions|permissions .{0,20}too open|status=(?:217\/USER|200\/CHDIR)/i,
  ]),
  row('path', 'a path it uses is not what it expects', 'Mend the path it names', false, [
    /\bENOTDIR\b|not a directory|\bEISDIR\b|is a directory|\bELOOP\b|too many (?:levels of )?symbolic links|\bENAMETOOLONG\b|file ?name too long|\bEEXIST\b|file (?:already )?exists|\bENOTEMPTY\b|directory not empty|\bETXTBSY\b|text file busy|\bEBUSY\b|(?:device or )?resource busy/i,
  ]),
  row('missing_file', 'a file or folder it needs is not there', 'Put back what it names', false, [
    /\bENOENT\b|no such file or directory|FileNotFoundError|FileNotFoundException|NoSuchFileException|file not found|(?:file|folder|directory|path|key ?file|keystore) .{0,60}(?:not found|does not exist|doesn't exist|is missing)|cannot find the (?:file|path)|(?:cannot|could not|can't|unable to|failed to) (?:open|read|load|find|stat|access) (?:the )?(?:\w*file|config\w*|directory|folder)|can'?t cd to|can't find|missing file/i,
  ]),
  row('configuration', 'it does not accept its configuration', 'Mend the configuration it names', false, [
    near(
      '\\bconfig(?:uration)?s?\\b|\\b[\\w./-]+\\.(?:conf|cfg|cnf|ya?ml|json|toml|ini|xml|properties|env)\\b|\\b(?:ya?ml|json|toml|xml)\\b',
      'error|invalid|fail|cannot|could not|unable|unexpected|unknown|not a (?:valid |known )?\\w+|not allowed|malformed|syntax|pars(?:e|ing)|expected|bad|wrong|must|duplicate|unclosed|unterminated|missing|no number|test failed|rejected|incomplete|illegal',
    ),
    /\b(?:syntax|parse|parsing|parser|decode|decoding|unmarshal\w*|validation) error|YAMLException|YAMLError|JSONDecodeError|SyntaxError|TOMLDecodeError|unexpected (?:token|character|end of|eof|symbol)|(?:value|setting|option|level|mode|size|number|format)\b.{0,60}(?:is not (?:a )?(?:valid|known|allowed|number)|out of range|must be|invalid|not supported)|invalid (?:value|syntax|format|number|address|url|host|port|boolean|integer|duration|size|cron|regex\w*|character|literal)|could not convert|cannot parse|could not parse|failed to parse|\b(?:must|should|has to|needs to) be (?:[<>]|between|at (?:least|most)|one of|(?:greater|less|larger|smaller|more|fewer|higher|lower) than|positive|non-?(?:negative|zero|empty))/i,
    near(
      '\\b(?:value|size|number|format|level|mode|port)\\b',
      '\\binvalid (?:max|min|value|size|number|format|port)\\w*',
    ),
  ]),
  row(
    'segfault',
    'it crashed on memory it may not touch (segmentation fault)',
    'Look for its core dump, and for a newer version',
    true,
    [
      /\bSIGSEGV\b|segmentation fault|\bsegfault\b|signal 11\b|\b(?:code|status)[:= ]+139\b|status=11\/SEGV|AccessViolation|general protection fault|nil pointer dereference|null pointer|NullPointerException/i,
    ],
  ),
  row(
    'assertion',
    'it ended itself because something was not as it must be (assertion)',
    'Look for its core dump, and for a newer version',
    true,
    [
      /assertion.{0,80}fail|assert(?:ion)?(?: failed|Error|ion)\b|\bAssertionError\b|invariant (?:violat|fail)|buffer overflow detected|stack smashing|double free|corrupted (?:size|double|unsorted)|free\(\): invalid|pure virtual method/i,
    ],
  ),
  row(
    'bus_error',
    'it crashed on memory that is not there (bus error)',
    'Look at the disk that holds its files and its shared memory',
    true,
    [/\bSIGBUS\b|\bbus error\b|signal 7\b|\b(?:code|status)[:= ]+135\b/i],
  ),
  row(
    'illegal_instruction',
    'its program uses instructions this processor does not have',
    'Install the build for this processor',
    false,
    [/\bSIGILL\b|illegal (?:hardware )?instruction|signal 4\b|\b(?:code|status)[:= ]+132\b|invalid opcode/i],
  ),
  row(
    'arithmetic',
    'it divided by zero, or computed what cannot be',
    'Look for what it worked on, and for a newer version',
    true,
    [
      /\bSIGFPE\b|floating[- ]point exception|signal 8\b|\b(?:code|status)[:= ]+136\b|divi(?:sion|de) by zero|ZeroDivisionError|integer overflow|arithmetic (?:exception|overflow)|ArithmeticException/i,
    ],
  ),
  row(
    'forbidden_call',
    'it called what the system forbids it',
    'Look at its sandbox (seccomp) and the system it runs on',
    false,
    [/\bSIGSYS\b|bad system call|\b(?:code|status)[:= ]+159\b|\bENOSYS\b|function not implemented|seccomp/i],
  ),
  row('time_limit', 'it used up the time it is given', 'Raise the limit, or find what took so long', true, [
    /\bSIGXCPU\b|cpu time limit exceeded|\b(?:code|status)[:= ]+152\b|start operation timed out|watchdog (?:timeout|timed out|expired|bite)|(?:liveness|health) ?(?:probe|check) (?:failed|timed out)|\bSIGALRM\b|alarm clock|startup timed? ?out|deadline exceeded/i,
  ]),
  row('hang_up', 'its terminal or session ended', 'Start it as a service, not from a terminal', true, [
    /\bSIGHUP\b.{0,40}(?:exit|terminat|stop|dy)|\bhangup\b|\b(?:code|status)[:= ]+129\b|status=1\/HUP/i,
  ]),
  row(
    'deadlock',
    'all of its threads wait for each other',
    'Look for a newer version; its stack trace names the places',
    true,
    [/all goroutines are asleep|\bdeadlock (?:detected|found)|deadlock!/i],
  ),
  row('stack', 'it called itself without end', 'Look for what it worked on, and for a newer version', true, [
    /stack overflow|StackOverflowError|maximum call stack|RecursionError|stack exhausted|stack level too deep|maximum recursion/i,
  ]),
  row(
    'killed',
    'it was killed from outside (signal 9)',
    'Find out who killed it: a person, a script, or the kernel for lack of memory',
    true,
    [
      /\bSIGKILL\b|signal 9\b|\b(?:code|status)[:= ]+137\b|status=9\/KILL|^(?:.*: line \d+:\s+\d+ |.*\s)?killed(?:\s|$)/i,
    ],
  ),
  generic('aborted', 'it ended itself (abort)', 'Look for its core dump, and for a newer version', true, [
    /\bSIGABRT\b|signal 6\b|\b(?:code|status)[:= ]+134\b|status=6\/ABRT|\bSIGTRAP\b|trace\/breakpoint trap|^(?:.*\s)?aborted\b/i,
  ]),
  generic('unhandled', 'an error that it does not handle ended it', 'Find out what the error means', true, [
    /\bpanic(?:ked)?\b(?:\(|:| at)|panicked at|^traceback \(most recent|unhandled ?(?:promise ?rejection|exception|error)|uncaught ?(?:exception|error|typeerror|referenceerror)|exception in thread|terminate called|core dumped|fatal (?:python|runtime|exception)|runtime error|^\w*(?:Error|Exception)(?: \[[\w]+\])?: |^(?:[a-z_]\w*\.)+\w*(?:Error|Exception)(?::|$)|\((?:\w+::)*\w+(?:Error|Exception)\)$/i,
  ]),
  generic(
    'own_words',
    'its log ends with an error that it calls fatal',
    'Mend what that line names',
    false,
    [],
  ),
];

function row(
  kind: string,
  means: string,
  advice: string,
  restart: boolean,
  patterns: readonly RegExp[],
): Row {
  return { kind, means, advice, restart, patterns };
}

function generic(...of: Parameters<typeof row>): Row {
  return { ...row(...of), generic: true };
}

/** What a line says about why a process ends; undefined where it says nothing that is known. */
export function recogniseEnd(line: string): (RecognisedEnd & { readonly generic: boolean }) | undefined {
  const found = ROWS.find(({ patterns }) => patterns.some((pattern) => pattern.test(line)));
  return found && plain(found);
}

/** For a line that says of itself that it is fatal. */
export function inItsOwnWords(): RecognisedEnd & { readonly generic: boolean } {
  const found = ROWS.find(({ kind }) => kind === 'own_words');
  if (found === undefined) throw new Error('the table has lost a row');
  return plain(found);
}

const plain = ({ kind, means, advice, restart, generic: only }: Row) => ({
  kind,
  means,
  advice,
  restart,
  generic: only === true,
});
