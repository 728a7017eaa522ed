import { Command } from 'commander'
import type { Desk } from './remote/talk.ts'

type Add = (command: Command, desk: Desk) => void

/** A command of the program: its usage, what it is for, and what adds its own commands or options. */
type Entry = readonly [usage: string, about: string, load: () => Promise<Add>]

/** The commands, in the order and under the headings in which they are listed. */
const COMMANDS: Readonly<Record<string, readonly Entry[]>> = {
  'The server': [
    [
      'serve',
      'run the engine and the API in this process',
      async () => (await import('./commands/server.ts')).addServe,
    ],
    ['migrate', 'migrate the database to this version', async () => (await import('./commands/server.ts')).addMigrate],
    [
      'login',
      'create a link that signs in to the console, once, within ten minutes',
      async () => (await import('./commands/login.ts')).addLogin,
    ],
    ['whoami', 'show the key in use and its permissions', async () => (await import('./commands/login.ts')).addWhoami],
    [
      'doctor',
      'find problems, and show what to do about them',
      async () => (await import('./commands/doctor.ts')).addDoctor,
    ],
  ],
  Work: [
    ['schedules', 'manage schedules', async () => (await import('./commands/schedules.ts')).addSchedules],
    [
      'backfills',
      'list and cancel backfills; schedules backfill begins one',
      async () => (await import('./commands/backfills.ts')).addBackfills,
    ],
    ['import', 'import schedules of other schedulers', async () => (await import('./commands/import.ts')).addImport],
    [
      'apply',
      'apply agents, targets, schedules and budgets from YAML files',
      async () => (await import('./commands/apply.ts')).addApply,
    ],
    [
      'export',
      'export agents, targets, schedules and budgets as YAML for apply',
      async () => (await import('./commands/export.ts')).addExport,
    ],
    ['tasks', 'submit, list and cancel tasks', async () => (await import('./commands/tasks.ts')).addTasks],
    ['runs', 'list, cancel, retry and watch runs', async () => (await import('./commands/runs.ts')).addRuns],
    [
      'explain <what>',
      'explain a run, task, schedule … by its id, or a time',
      async () => (await import('./commands/explain.ts')).addExplain,
    ],
    [
      'sessions',
      'manage sessions, and send messages',
      async () => (await import('./commands/sessions.ts')).addSessions,
    ],
    [
      'chat <agent>',
      'chat with an agent: /stop, /stopall, /schedule turns the last answer into a schedule, Ctrl-D ends',
      async () => (await import('./commands/chat.ts')).addChat,
    ],
    ['agents', 'manage agents', async () => (await import('./commands/agents.ts')).addAgents],
    ['heartbeat', 'manage heartbeats of agents', async () => (await import('./commands/heartbeat.ts')).addHeartbeat],
    ['budgets', 'manage budgets', async () => (await import('./commands/budgets.ts')).addBudgets],
    [
      'providers',
      'manage providers, whose quotas agents share',
      async () => (await import('./commands/providers.ts')).addProviders,
    ],
    ['targets', 'manage targets of results', async () => (await import('./commands/targets.ts')).addTargets],
    [
      'channels',
      'manage channels: Telegram, Slack and signed webhooks',
      async () => (await import('./commands/channels.ts')).addChannels,
    ],
    [
      'secrets',
      'manage secrets, which agents may send',
      async () => (await import('./commands/secrets.ts')).addSecrets,
    ],
  ],
  Operation: [
    ['stats', 'show outcomes and queues', async () => (await import('./commands/stats.ts')).addStats],
    [
      'deliveries',
      'list and retry deliveries of results',
      async () => (await import('./commands/deliveries.ts')).addDeliveries,
    ],
    ['alerts', 'list alerts', async () => (await import('./commands/deliveries.ts')).addAlerts],
    ['events', 'follow events', async () => (await import('./commands/events.ts')).addEvents],
    ['lanes', 'list and resize lanes', async () => (await import('./commands/lanes.ts')).addLanes],
    ['nodes', 'list the server processes', async () => (await import('./commands/lanes.ts')).addNodes],
    [
      'worker [program...]',
      'run a worker for agents whose executor is worker',
      async () => (await import('./commands/worker.ts')).addWorker,
    ],
    ['workers', 'list connected workers', async () => (await import('./commands/worker.ts')).addWorkers],
    ['mcp', 'serve MCP tools on stdin and stdout', async () => (await import('./commands/mcp.ts')).addMcp],
    [
      'config',
      'show and change settings of the running deployment (operator only)',
      async () => (await import('./commands/config.ts')).addConfig,
    ],
    ['audit', 'list changes, and verify the audit chain', async () => (await import('./commands/audit.ts')).addAudit],
  ],
  'People and programs': [
    ['keys', 'manage API keys', async () => (await import('./commands/keys.ts')).addKeys],
    ['orgs', 'manage orgs (operator only)', async () => (await import('./commands/orgs.ts')).addOrgs],
    ['members', 'manage members of an org', async () => (await import('./commands/members.ts')).addMembers],
  ],
  'Without a server': [
    [
      'simulate',
      'simulate schedules over a window of time',
      async () => (await import('./commands/simulate.ts')).addSimulate,
    ],
    ['cron', 'evaluate cron expressions', async () => (await import('./commands/cron.ts')).addCron],
    ['completion <shell>', 'print a completion script: bash, zsh or fish', loadCompletion],
  ],
}

async function loadCompletion(): Promise<Add> {
  const { addCompletion } = await import('./commands/completion.ts')
  return (command, desk) => {
    addCompletion(command, desk, () => describeCommands(new Command('escapement'), desk))
  }
}

/**
 * Adds every command to the program. What is behind a command is loaded only if its name is among the words: all of it,
 * with the schemas that options come from, takes longer than most commands.
 */
export async function describeCommands(program: Command, desk: Desk, words?: readonly string[]): Promise<Command> {
  for (const [heading, entries] of Object.entries(COMMANDS)) {
    program.commandsGroup(`${heading}:`)
    for (const [usage, about, load] of entries) {
      const command = program.command(usage).description(about)
      if (words?.includes(command.name()) ?? true) (await load())(command, desk)
    }
  }
  return program
}
