import { Command } from 'commander'
import type { CliContext } from './remote/call.ts'

type Add = (command: Command, cli: CliContext) => void

/** A top-level command. `load` imports the module that adds its subcommands and options. */
interface Entry {
  readonly usage: string
  readonly about: string
  readonly load: () => Promise<Add>
}

type NameIn<Usage extends string> = Usage extends `${infer Name} ${string}` ? Name : Usage
type AddIn<Usage extends string> = `add${Capitalize<NameIn<Usage>>}`

/** Expects the module of command `serve` to export `addServe`. */
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

/** The commands by help heading, in the order of the help. */
const COMMANDS: Readonly<Record<string, readonly Entry[]>> = {
  Server: [
    entry('serve', 'run the engine and the API in this process', () => import('./serve-commands.ts')),
    entry('migrate', 'migrate the database to this version', () => import('./serve-commands.ts')),
    entry(
      'login',
      'create a one-time sign-in link for the console, valid for 10 minutes',
      () => import('../features/access/cli.ts'),
    ),
    entry('whoami', 'show the key in use and its permissions', () => import('../features/access/cli.ts')),
    entry('doctor', 'find problems and show how to fix them', () => import('./doctor/doctor.ts')),
  ],
  Automation: [
    entry('schedules', 'manage schedules', () => import('../features/schedules/cli.ts')),
    entry(
      'backfills',
      'list and cancel backfills; start one with schedules backfill',
      () => import('../features/backfill/cli.ts'),
    ),
    entry('import', 'import schedules from other schedulers', () => import('../features/import/cli.ts')),
    entry(
      'apply',
      'apply agents, targets, schedules and budgets from YAML files',
      () => import('../features/as-code/cli.ts'),
    ),
    entry(
      'export',
      'export agents, targets, schedules and budgets as YAML for apply',
      () => import('../features/as-code/cli.ts'),
    ),
    entry('tasks', 'submit, list and cancel tasks', () => import('../features/tasks/cli.ts')),
    entry('runs', 'list, cancel, retry and watch runs', () => import('../features/runs/cli.ts')),
    entry(
      'explain <what>',
      'explain a run, task or schedule by its id, or what happened at a time',
      () => import('../features/explain/cli.ts'),
    ),
    entry('sessions', 'manage sessions and send messages', () => import('../features/sessions/cli.ts')),
    entry(
      'chat <agent>',
      'chat with an agent: /stop, /stopall, /schedule to create a schedule from the last answer, Ctrl-D to quit',
      () => import('../features/sessions/cli-chat.ts'),
    ),
    entry('agents', 'manage agents', () => import('../features/agents/cli.ts')),
    entry('heartbeat', 'manage agent heartbeats', () => import('../features/heartbeats/cli.ts')),
    entry('budgets', 'manage budgets', () => import('../features/budgets/cli.ts')),
    entry(
      'providers',
      'manage providers and the quotas that agents share',
      () => import('../features/providers/cli.ts'),
    ),
    entry('targets', 'manage delivery targets', () => import('../features/targets/cli.ts')),
    entry(
      'channels',
      'manage channels: Telegram, Slack and signed webhooks',
      () => import('../features/channels/cli.ts'),
    ),
    entry('secrets', 'manage secrets for agents', () => import('../features/secrets/cli.ts')),
  ],
  Operations: [
    entry('stats', 'show run outcomes and queues', () => import('../features/stats/cli.ts')),
    entry('deliveries', 'list and retry deliveries', () => import('../features/deliveries/cli.ts')),
    entry('alerts', 'list, acknowledge and snooze alerts', () => import('../features/deliveries/cli.ts')),
    entry('events', 'follow events', () => import('../features/events/cli.ts')),
    entry('lanes', 'list and resize lanes', () => import('../features/lanes/cli.ts')),
    entry('nodes', 'list server nodes', () => import('../features/lanes/cli.ts')),
    entry(
      'worker [program...]',
      'run a worker for agents whose executor is worker',
      () => import('../features/workers/cli.ts'),
    ),
    entry('workers', 'list connected workers', () => import('../features/workers/cli.ts')),
    entry('mcp', 'serve MCP tools on stdin and stdout', () => import('./mcp.ts')),
    entry(
      'config',
      'show and change settings of the running deployment (operator only)',
      () => import('../features/config/cli.ts'),
    ),
    entry('audit', 'list changes and verify the audit chain', () => import('../features/audit/cli.ts')),
  ],
  Access: [
    entry('keys', 'manage API keys', () => import('../features/access/cli.ts')),
    entry('orgs', 'manage orgs (operator only)', () => import('../features/access/cli.ts')),
    entry('members', 'manage members of an org', () => import('../features/access/cli.ts')),
  ],
  'Without a server': [
    entry('simulate', 'simulate schedules over a time window', () => import('../features/simulation/cli.ts')),
    entry('cron', 'evaluate cron expressions', () => import('./cron.ts')),
    entry('completion <shell>', 'print a completion script: bash, zsh or fish', loadCompletion),
  ],
}

async function loadCompletion(): Promise<{ readonly addCompletion: Add }> {
  const { completionOf } = await import('./completion.ts')
  return { addCompletion: completionOf((cli) => describeCommands(new Command('escapement'), cli)) }
}

/**
 * Adds every command to the program. Loads the module of a command only if `words` contains its name, because loading all
 * modules, with the schemas that define the options, takes longer than most commands run.
 */
export async function describeCommands(program: Command, cli: CliContext, words?: readonly string[]): Promise<Command> {
  for (const [heading, entries] of Object.entries(COMMANDS)) {
    program.commandsGroup(`${heading}:`)
    for (const { usage, about, load } of entries) {
      const command = program.command(usage).description(about)
      if (words?.includes(command.name()) ?? true) (await load())(command, cli)
    }
  }
  return program
}
