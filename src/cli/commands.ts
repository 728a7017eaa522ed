import type { Command } from 'commander'
import { addAgents } from './commands/agents.ts'
import { addApply } from './commands/apply.ts'
import { addAudit } from './commands/audit.ts'
import { addBackfills } from './commands/backfills.ts'
import { addBudgets } from './commands/budgets.ts'
import { addChannels } from './commands/channels.ts'
import { addChat } from './commands/chat.ts'
import { addCompletion } from './commands/completion.ts'
import { addConfig } from './commands/config.ts'
import { addCron } from './commands/cron.ts'
import { addAlerts, addDeliveries } from './commands/deliveries.ts'
import { addExplain } from './commands/explain.ts'
import { addDoctor } from './commands/doctor.ts'
import { addEvents } from './commands/events.ts'
import { addExport } from './commands/export.ts'
import { addHeartbeat } from './commands/heartbeat.ts'
import { addImport } from './commands/import.ts'
import { addKeys } from './commands/keys.ts'
import { addLanes } from './commands/lanes.ts'
import { addLogin } from './commands/login.ts'
import { addMcp } from './commands/mcp.ts'
import { addMembers } from './commands/members.ts'
import { addOrgs } from './commands/orgs.ts'
import { addProviders } from './commands/providers.ts'
import { addRuns } from './commands/runs.ts'
import { addSchedules } from './commands/schedules.ts'
import { addSecrets } from './commands/secrets.ts'
import { addServer } from './commands/server.ts'
import { addSessions } from './commands/sessions.ts'
import { addSimulate } from './commands/simulate.ts'
import { addStats } from './commands/stats.ts'
import { addTargets } from './commands/targets.ts'
import { addTasks } from './commands/tasks.ts'
import { addWorkers } from './commands/worker.ts'
import type { Desk } from './remote/talk.ts'

type Add = (program: Command, desk: Desk) => void

/** The commands, in the order and under the headings in which they are listed. */
const COMMANDS: Readonly<Record<string, readonly Add[]>> = {
  'The server': [addServer, addLogin, addDoctor],
  Work: [
    addSchedules,
    addBackfills,
    addImport,
    addApply,
    addExport,
    addTasks,
    addRuns,
    addExplain,
    addSessions,
    addChat,
    addAgents,
    addHeartbeat,
    addBudgets,
    addProviders,
    addTargets,
    addChannels,
    addSecrets,
  ],
  Operation: [addStats, addDeliveries, addAlerts, addEvents, addLanes, addWorkers, addMcp, addConfig, addAudit],
  'People and programs': [addKeys, addOrgs, addMembers],
  'Without a server': [addSimulate, addCron, addCompletion],
}

/** Adds every command to the program. */
export function describeCommands(program: Command, desk: Desk): void {
  for (const [heading, adders] of Object.entries(COMMANDS)) {
    program.commandsGroup(`${heading}:`)
    for (const add of adders) add(program, desk)
  }
}
