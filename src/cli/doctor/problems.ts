/** The subject of a finding, printed in front of it. */
export type Subject =
  | 'node'
  | 'data'
  | 'config'
  | 'port'
  | 'database'
  | 'secrets'
  | 'server'
  | 'version'
  | 'ready'
  | 'key'
  | 'clock'
  | ServerSubject

/** Subjects that only a server can report. */
type ServerSubject = 'nodes' | 'lanes' | 'agents' | 'alerts'

interface DoctorProblem {
  readonly what: Subject
  /** `bad`: something does not work. `warning`: it works, but needs attention. */
  readonly state: 'warning' | 'bad'
  /** What the problem is, for the table of docs/guides/troubleshoot.md. */
  readonly means: string
  readonly advice: string
}

const bad = (what: Subject, means: string, advice: string): DoctorProblem => ({ what, state: 'bad', means, advice })
const warning = (what: Subject, means: string, advice: string): DoctorProblem => ({
  what,
  state: 'warning',
  means,
  advice,
})

/** Everything `escapement doctor` can find, as one closed table; docs/guides/troubleshoot.md prints it. */
export const DOCTOR_PROBLEMS = {
  node_old: bad('node', 'Node is older than 20.19.', 'Install Node 20.19 or newer.'),
  data_missing: warning(
    'data',
    'The data directory holds no key, so no server was started here.',
    'If the server runs elsewhere, set ESCAPEMENT_URL and ESCAPEMENT_KEY. Otherwise pass its directory: --data DIRECTORY.',
  ),
  data_unwritable: bad(
    'data',
    'This user cannot write to the data directory.',
    'If another user runs a server there, run doctor as that user: sudo -u USER escapement doctor. Otherwise give the directory to the user that runs Escapement (chown -R USER DIRECTORY), or choose another one: --data DIRECTORY',
  ),
  key_exposed: bad(
    'data',
    'Other users of this machine can read a key file.',
    'Run chmod 600 FILE, and create a new key if another user may have read it.',
  ),
  disk_full: bad(
    'data',
    'Less than 100 MB are free on the disk of the data directory or of the embedded database.',
    'Free some space; acknowledged work is not lost. escapement config get retention shows how long runs are kept.',
  ),
  config_refused: bad(
    'config',
    'A setting in the file, the environment or a flag is invalid, so no server starts.',
    'Correct the setting; docs/reference/config.md lists all settings and their allowed values.',
  ),
  config_doubtful: warning(
    'config',
    'An environment variable has no effect, or not the expected one.',
    'Correct its name or unset it.',
  ),
  port_taken: bad(
    'port',
    'Another program listens on the port of the server.',
    'Stop that program, or use another port: escapement serve --port 0 picks a free one.',
  ),
  port_refused: bad(
    'port',
    'The server cannot listen on this address.',
    'Use a port above 1023 and an address of this machine: --port 7420 --host 127.0.0.1',
  ),
  database_unreachable: bad(
    'database',
    'No server answers at the host and port of the database URL.',
    'Start PostgreSQL; check the host and port of the database URL, the network and the firewall.',
  ),
  database_refused: bad(
    'database',
    'PostgreSQL refuses the connection: wrong user, password, database name or TLS settings.',
    'Check the user, password, database name and TLS settings of the database URL; psql URL shows the same error.',
  ),
  database_too_old: bad('database', 'PostgreSQL is older than 15.', 'Use PostgreSQL 15 or newer.'),
  database_read_only: bad(
    'database',
    'The database URL names a standby, which is read-only.',
    'Use the address of the primary server.',
  ),
  database_newer: bad(
    'database',
    'A newer version of Escapement migrated the schema, and migrations cannot be undone.',
    'Start that version, or restore the backup from before the upgrade.',
  ),
  database_behind: warning(
    'database',
    'The schema is missing migrations of this version.',
    'The next start applies them; escapement migrate applies them without starting a server.',
  ),
  database_failed: bad(
    'database',
    'The database is reachable but cannot be used.',
    'Follow the detail; docs/concepts/database.md lists all database errors.',
  ),
  secrets_locked: bad(
    'secrets',
    'The database holds secrets, but their encryption key is missing here, so no server starts.',
    'Restore the key: docs/guides/backup-restore.md. If it is lost: escapement secrets recover --lost-key ID, with the id from the detail; it lists the secrets to enter again.',
  ),
  server_none: bad(
    'server',
    'No server runs on the data directory.',
    'Start one: escapement serve. Or use another server: --data DIRECTORY, or --url with ESCAPEMENT_KEY',
  ),
  server_hidden: bad(
    'server',
    'The data directory belongs to another user, so this user cannot see whether a server runs on it.',
    'Run doctor as that user: sudo -u USER escapement doctor --data DIRECTORY. Or pass the address of the server: --url with ESCAPEMENT_KEY',
  ),
  server_silent: bad(
    'server',
    'No server answers at this address.',
    'Check the address, and that the server is started. Another node can report a node that hangs: escapement doctor --url ANOTHER',
  ),
  server_strange: bad(
    'server',
    'The program at this address is not Escapement.',
    'Check the address; a proxy in between must forward every path and the Host header.',
  ),
  proxy_alone: bad(
    'server',
    'A proxy answers, but no node behind it does: all nodes are down, draining, or without database.',
    'Run doctor on the machine of a node, or against a node: escapement doctor --url http://NODE:7420',
  ),
  key_missing: bad(
    'server',
    'There is no API key for this server.',
    'Set ESCAPEMENT_KEY to a key of that server: the ESCAPEMENT_OWNER_KEY of its nodes, or one from escapement keys create. Or pass the directory with its owner.key, which the first node created: --data DIRECTORY',
  ),
  key_refused: bad(
    'key',
    'The server rejects the key: it belongs to another server, is revoked or has expired.',
    'Unset ESCAPEMENT_KEY, or set it to a key of this server. If owner.key is lost: with the embedded database, remove the file and restart to create a new one; with your own PostgreSQL, start once with ESCAPEMENT_OWNER_KEY.',
  ),
  host_refused: bad(
    'server',
    'The server does not accept the host name in this address.',
    'Set server.public_url, or add the name to server.allowed_hosts, and restart.',
  ),
  version_differs: warning(
    'version',
    'The server and this command have different versions.',
    'Use the same version for both; to upgrade nodes one by one, see docs/guides/upgrade.md',
  ),
  database_away: bad(
    'ready',
    'The node has lost its database. It accepts no new work and reconnects automatically.',
    'Start PostgreSQL again. Acknowledged work is not lost.',
  ),
  node_draining: warning(
    'ready',
    'The node is draining: active runs may finish, no new ones start.',
    'If an operator stopped it, nothing. It stops after server.drain_grace_seconds at the latest.',
  ),
  node_stalled: bad(
    'nodes',
    'A node is alive but does not look for due work.',
    'Check its log and CPU use: a busy loop, a suspended machine, a full disk, or a database lock. Restart it; other nodes take over its runs.',
  ),
  node_gone: warning(
    'nodes',
    'A node crashed within the last hour; other nodes took over its runs.',
    'Check the end of its log (killed, out of memory?), and start it again if it is not back. Its log line "Escapement has started" has the id.',
  ),
  node_none: bad('nodes', 'No node is alive, so nothing runs.', 'Start one: escapement serve'),
  clock_differs: warning(
    'clock',
    'The clocks of this machine and of the database differ by more than a minute.',
    'Synchronize both with NTP. Schedules use the database clock; times in this terminal use the clock of this machine.',
  ),
  lane_full: warning(
    'lanes',
    'All slots of a lane are in use, and runs wait for one.',
    'Add slots: escapement lanes set NAME SIZE. Or add nodes, or shorten the active runs: escapement runs list --status running',
  ),
  agent_loopback: warning(
    'agents',
    'Runs fail because the outbound guard blocks addresses on this machine and in private networks.',
    `Allow the address: escapement config set outbound.allow_hosts '["host:port"]', or outbound.allow_loopback true`,
  ),
  agent_unreachable: warning(
    'agents',
    'Runs fail because an agent does not answer.',
    'Start the agent, or correct its address. Show it: escapement agents get ID',
  ),
  agent_homeless: warning(
    'agents',
    'No live node can execute an agent, so its runs wait.',
    'Start the program that provides the agent; for a program on this machine set executors.command.enabled',
  ),
  worker_missing: warning(
    'agents',
    'No worker is connected for an agent with executor worker, so its runs wait.',
    'Start one: escapement worker --agent ID PROGRAM; escapement workers lists connected workers.',
  ),
  agent_failing: warning(
    'agents',
    'The last run of an agent failed.',
    'Show the run: escapement runs get ID. Retry it: escapement runs retry ID',
  ),
  alert_open: warning(
    'alerts',
    'An alert is open.',
    'List alerts: escapement alerts list --status open. An alert clears when its cause is gone.',
  ),
} as const satisfies Readonly<Record<string, DoctorProblem>>

export type DoctorProblemCode = keyof typeof DOCTOR_PROBLEMS

/** The result of one check. */
export interface Finding {
  readonly what: Subject
  /** Stable, for programs; null: no problem. */
  readonly code: DoctorProblemCode | null
  readonly state: 'ok' | DoctorProblem['state']
  readonly detail: string
  /** How to fix it; null: nothing to do. */
  readonly advice: string | null
}

/** A check without a problem. */
export const okFinding = (what: Subject, detail: string): Finding => ({
  ...{ what, code: null, state: 'ok', detail, advice: null },
})

/** A problem; `advice` replaces the advice of the table. */
export function problemText(code: DoctorProblemCode, detail: string, advice?: string): Finding {
  const known: DoctorProblem = DOCTOR_PROBLEMS[code]
  return { what: known.what, code, state: known.state, detail, advice: advice ?? known.advice }
}
