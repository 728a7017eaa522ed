import { Command } from 'commander'
import type { Desk } from './remote/talk.ts'

type Add = (command: Command, desk: Desk) => void

/** A command of the program: its usage, what it is for, and what adds its own commands or options. */
interface Entry {
  readonly usage: string
  readonly about: string
  readonly load: () => Promise<Add>
}

type NameIn<Usage extends string> = Usage extends `${infer Name} ${string}` ? Name : Usage
type AddIn<Usage extends string> = `add${Capitalize<NameIn<Usage>>}`

/** The module exports `add` and the name of the command: `addServe` adds what belongs to `serve`. */
const entry = <Usage extends string>(
  usage: Usage,
  about: string,
  load: () => Promise<Readonly<Record<AddIn<Usage>, Add>>>,
): Entry => ({
  usage,
  about,
  load: async () => {
    const name = usage.split(' ', 1)[0] ?? ''
    return (await load())[`add${name.charAt(0).toUpperCase()}${name.slice(1)}` as AddIn<Usage>]
  },
})

/** The commands, in the order and under the headings in which they are listed. */
const COMMANDS: Readonly<Record<string, readonly Entry[]>> = {
  'The server': [
    entry('serve', 'run the engine and the API in this process', () => import('./serve-commands.ts')),
    entry('migrate', 'migrate the database to this version', () => import('./serve-commands.ts')),
    entry(
      'login',
      'create a link that signs in to the console, once, within ten minutes',
      () => import('./commands/login.ts'),
    ),
    entry('whoami', 'show the key in use and its permissions', () => import('./commands/login.ts')),
    entry('doctor', 'find problems, and show what to do about them', () => import('./commands/doctor.ts')),
  ],
  Work: [
    entry('schedules', 'manage schedules', () => import('./commands/schedules.ts')),
    entry(
      'backfills',
      'list and cancel backfills; schedules backfill begins one',
      () => import('./commands/backfills.ts'),
    ),
    entry('import', 'import schedules of other schedulers', () => import('../features/import/cli.ts')),
    entry('apply', 'apply agents, targets, schedules and budgets from YAML files', () => import('./commands/apply.ts')),
    entry(
      'export',
      'export agents, targets, schedules and budgets as YAML for apply',
      () => import('./commands/export.ts'),
    ),
    entry('tasks', 'submit, list and cancel tasks', () => import('./commands/tasks.ts')),
    entry('runs', 'list, cancel, retry and watch runs', () => import('./commands/runs.ts')),
    entry(
      'explain <what>',
      'explain a run, task, schedule … by its id, or a time',
      () => import('./commands/explain.ts'),
    ),
    entry('sessions', 'manage sessions, and send messages', () => import('./commands/sessions.ts')),
    entry(
      'chat <agent>',
      'chat with an agent: /stop, /stopall, /schedule turns the last answer into a schedule, Ctrl-D ends',
      () => import('./commands/chat.ts'),
    ),
    entry('agents', 'manage agents', () => import('../features/agents/cli.ts')),
    entry('heartbeat', 'manage heartbeats of agents', () => import('./commands/heartbeat.ts')),
    entry('budgets', 'manage budgets', () => import('./commands/budgets.ts')),
    entry('providers', 'manage providers, whose quotas agents share', () => import('./commands/providers.ts')),
    entry('targets', 'manage targets of results', () => import('./commands/targets.ts')),
    entry('channels', 'manage channels: Telegram, Slack and signed webhooks', () => import('./commands/channels.ts')),
    entry('secrets', 'manage secrets, which agents may send', () => import('./commands/secrets.ts')),
  ],
  Operation: [
    entry('stats', 'show outcomes and queues', () => import('./commands/stats.ts')),
    entry('deliveries', 'list and retry deliveries of results', () => import('./commands/deliveries.ts')),
    entry('alerts', 'list alerts', () => import('./commands/deliveries.ts')),
    entry('events', 'follow events', () => import('./commands/events.ts')),
    entry('lanes', 'list and resize lanes', () => import('./commands/lanes.ts')),
    entry('nodes', 'list the server processes', () => import('./commands/lanes.ts')),
    entry(
      'worker [program...]',
      'run a worker for agents whose executor is worker',
      () => import('./commands/worker.ts'),
    ),
    entry('workers', 'list connected workers', () => import('./commands/worker.ts')),
    entry('mcp', 'serve MCP tools on stdin and stdout', () => import('./mcp.ts')),
    entry(
      'config',
      'show and change settings of the running deployment (operator only)',
      () => import('../features/config/cli.ts'),
    ),
    entry('audit', 'list changes, and verify the audit chain', () => import('./commands/audit.ts')),
  ],
  'People and programs': [
    entry('keys', 'manage API keys', () => import('./commands/keys.ts')),
    entry('orgs', 'manage orgs (operator only)', () => import('./commands/orgs.ts')),
    entry('members', 'manage members of an org', () => import('./commands/members.ts')),
  ],
  'Without a server': [
    entry('simulate', 'simulate schedules over a window of time', () => import('../features/simulation/cli.ts')),
    entry('cron', 'evaluate cron expressions', () => import('./commands/cron.ts')),
    entry('completion <shell>', 'print a completion script: bash, zsh or fish', loadCompletion),
  ],
}

async function loadCompletion(): Promise<{ readonly addCompletion: Add }> {
  const { completionOf } = await import('./completion.ts')
  return { addCompletion: completionOf((desk) => describeCommands(new Command('escapement'), desk)) }
}

/**
 * Adds every command to the program. What is behind a command is loaded only if its name is among the words: all of it,
 * with the schemas that options come from, takes longer than most commands.
 */
export async function describeCommands(program: Command, desk: Desk, words?: readonly string[]): Promise<Command> {
  for (const [heading, entries] of Object.entries(COMMANDS)) {
    program.commandsGroup(`${heading}:`)
    for (const { usage, about, load } of entries) {
      const command = program.command(usage).description(about)
      if (words?.includes(command.name()) ?? true) (await load())(command, desk)
    }
  }
  return program
}
