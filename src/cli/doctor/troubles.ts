/** What a finding is about: the first word of its line. */
export type Subject =
  'node' | 'data' | 'config' | 'port' | 'database' | 'secrets' | 'server' | 'version' | 'ready' | 'key' | 'clock' | Work

/** What only a server can say. */
type Work = 'nodes' | 'lanes' | 'agents' | 'alerts'

interface Trouble {
  readonly what: Subject
  /** `bad`: something does not work. `warning`: it works, and somebody should know. */
  readonly state: 'warning' | 'bad'
  /** What is so, for the table of docs/guides/troubleshoot.md. */
  readonly means: string
  readonly advice: string
}

const bad = (what: Subject, means: string, advice: string): Trouble => ({ what, state: 'bad', means, advice })
const warning = (what: Subject, means: string, advice: string): Trouble => ({ what, state: 'warning', means, advice })

/** Everything `escapement doctor` can find, as one closed table; the guide prints it. */
export const TROUBLES = {
  node_old: bad('node', 'Node is older than 20.19.', 'Install Node 20.19 or newer.'),
  data_missing: warning(
    'data',
    'There is no data directory with a key: no server was started here.',
    'Fine when the server runs elsewhere: ESCAPEMENT_URL and ESCAPEMENT_KEY name it. Else --data DIRECTORY.',
  ),
  data_unwritable: bad(
    'data',
    'This user may not write to the data directory.',
    'If a server of another user runs there, ask as that user: sudo -u USER escapement doctor. Else give it to the user that runs Escapement (chown -R USER DIRECTORY), or choose another: --data DIRECTORY',
  ),
  key_exposed: bad(
    'data',
    'Other users of the machine can read a key.',
    'chmod 600 FILE, and make another key if others were there.',
  ),
  disk_full: bad(
    'data',
    'Less than 100 MB are free where the data directory lies, or the embedded database.',
    'Free some space; what was acknowledged is not lost. escapement config get retention says how long runs are kept.',
  ),
  config_refused: bad(
    'config',
    'A setting in the file, the environment or a flag is refused; nothing starts with it.',
    'Mend what is named; docs/reference/config.md lists every setting and what it allows.',
  ),
  config_doubtful: warning(
    'config',
    'A variable of the environment has no effect, or not the one its name promises.',
    'Correct its name, or take it away.',
  ),
  port_taken: bad(
    'port',
    'Another program listens where the server would.',
    'End it, or take another port: escapement serve --port 0 finds a free one.',
  ),
  port_refused: bad(
    'port',
    'The server cannot listen at this address.',
    'Take a port above 1023 and an address of this machine: --port 7420 --host 127.0.0.1',
  ),
  database_unreachable: bad(
    'database',
    'Nobody answers at the host and port of the database URL.',
    'Start PostgreSQL; check host, port and network of the database URL, and the firewall between.',
  ),
  database_refused: bad(
    'database',
    'PostgreSQL answers and refuses: wrong user, password, database name or TLS.',
    'Check user, password, database name and TLS settings of the database URL; psql URL says the same.',
  ),
  database_too_old: bad('database', 'PostgreSQL is older than 15.', 'Use PostgreSQL 15 or newer.'),
  database_read_only: bad(
    'database',
    'The URL names a standby, which takes no changes.',
    'Use the address of the primary server.',
  ),
  database_newer: bad(
    'database',
    'A newer Escapement has prepared the schema: migrations go forward only.',
    'Start that newer version, or restore the backup made before the upgrade.',
  ),
  database_behind: warning(
    'database',
    'The schema lacks migrations of this version.',
    'The next start applies them; so does escapement migrate, without serving.',
  ),
  database_failed: bad(
    'database',
    'The database can be reached and cannot be used.',
    'The detail says what to do; docs/concepts/database.md lists every refusal.',
  ),
  secrets_locked: bad(
    'secrets',
    'The database holds secrets, and the key that opens them is not here: nothing starts.',
    'Bring the key from where it was: docs/guides/backup-restore.md. If it is lost: escapement secrets recover --lost-key ID, with the id of the detail; it lists what has to be entered again.',
  ),
  server_none: bad(
    'server',
    'No server runs on the data directory.',
    'Start one: escapement serve. Or name another: --data DIRECTORY, or --url with ESCAPEMENT_KEY',
  ),
  server_hidden: bad(
    'server',
    'The data directory belongs to somebody else, and this user may not see who runs on it.',
    'Ask as the user that runs it: sudo -u USER escapement doctor --data DIRECTORY. Or name it: --url with ESCAPEMENT_KEY',
  ),
  server_silent: bad(
    'server',
    'Nothing answers at the address of the server.',
    'Is it started, and is the address right? A node that hangs is seen by the others: escapement doctor --url ANOTHER',
  ),
  server_strange: bad(
    'server',
    'Something answers at the address, and it is no Escapement.',
    'Check the address; a proxy in between has to pass on every path, and the Host header.',
  ),
  proxy_alone: bad(
    'server',
    'A proxy answers, and no node behind it does: all are gone, drain, or have lost the database.',
    'Ask on the machine of a node: escapement doctor there, or escapement doctor --url http://NODE:7420',
  ),
  key_missing: bad(
    'server',
    'There is no key to show to this server.',
    'Set ESCAPEMENT_KEY to a key of that server: the ESCAPEMENT_OWNER_KEY of its nodes, or one of escapement keys create. Or --data to the directory with its owner.key: that of the node which came first.',
  ),
  key_refused: bad(
    'key',
    'The server does not accept the key: of another server, revoked or expired.',
    'Unset ESCAPEMENT_KEY or set a key of this server. A lost owner.key: remove the file and restart, with the embedded database another is made; with your own, start once with ESCAPEMENT_OWNER_KEY.',
  ),
  host_refused: bad(
    'server',
    'The server is not known by the name in this address.',
    'Set server.public_url, or add the name to server.allowed_hosts, and restart.',
  ),
  version_differs: warning(
    'version',
    'Server and command are of different releases.',
    'Use the same version for both; nodes are upgraded one after the other: docs/guides/upgrade.md',
  ),
  database_away: bad(
    'ready',
    'The node has lost its database. It takes no new work and comes back by itself.',
    'Bring PostgreSQL back. Nothing that was acknowledged is lost.',
  ),
  node_draining: warning(
    'ready',
    'The node goes down: what runs may end, nothing new begins.',
    'Nothing, if somebody stopped it. It ends after server.drain_grace_seconds.',
  ),
  node_stalled: bad(
    'nodes',
    'A node lives and does not look for what is due.',
    'Look at its log and its processor: a busy loop, a suspended machine, a full disk, or a lock in the database. Restart it; others take over what it held.',
  ),
  node_gone: warning(
    'nodes',
    'A node died within the last hour without a goodbye; the others have done what it held.',
    'Look at the end of its log (killed, out of memory?), and start it again unless it is back. Its line Escapement has started has the id.',
  ),
  node_none: bad('nodes', 'No node is alive, so nothing runs.', 'Start one: escapement serve'),
  clock_differs: warning(
    'clock',
    'The clock of this machine and that of the database differ by more than a minute.',
    'Set both by NTP. Schedules follow the clock of the database; times in this terminal follow yours.',
  ),
  lane_full: warning(
    'lanes',
    'Every slot of a lane is taken, and work waits for one.',
    'More slots: escapement lanes set NAME SIZE. Or more nodes, or shorter work: escapement runs list --status running',
  ),
  agent_loopback: warning(
    'agents',
    'Runs fail because the guard refuses an address on this machine or in a private network.',
    'Allow exactly it in the configuration file and restart: outbound.allow_hosts [host:port], or outbound.allow_loopback true',
  ),
  agent_unreachable: warning(
    'agents',
    'Runs fail because an agent does not answer.',
    'Start the agent, or correct its address: escapement agents get ID',
  ),
  agent_homeless: warning(
    'agents',
    'No node that is alive can execute an agent, so its runs wait.',
    'Start the program that brings it; for a program of this machine set executors.command.enabled',
  ),
  worker_missing: warning(
    'agents',
    'An agent is done by workers, and none is connected for it: its runs wait.',
    'Start one: escapement worker --agent ID PROGRAM; escapement workers lists those that are connected.',
  ),
  agent_failing: warning(
    'agents',
    'The last run of an agent failed.',
    'Look at the run: escapement runs get ID. Try again: escapement runs retry ID',
  ),
  alert_open: warning(
    'alerts',
    'Something was noticed that somebody should look at.',
    'escapement alerts list --status open; each clears itself when it is over.',
  ),
} as const satisfies Readonly<Record<string, Trouble>>

export type TroubleCode = keyof typeof TROUBLES

/** One thing that was looked at. */
export interface Finding {
  readonly what: Subject
  /** Stable, for programs; null: all is well. */
  readonly code: TroubleCode | null
  readonly state: 'ok' | Trouble['state']
  readonly detail: string
  /** What to do about it; null: nothing. */
  readonly advice: string | null
}

/** All is well. */
export const well = (what: Subject, detail: string): Finding => ({
  ...{ what, code: null, state: 'ok', detail, advice: null },
})

/** Something is not; `advice` where more can be said than usual. */
export function trouble(code: TroubleCode, detail: string, advice?: string): Finding {
  const known: Trouble = TROUBLES[code]
  return { what: known.what, code, state: known.state, detail, advice: advice ?? known.advice }
}
