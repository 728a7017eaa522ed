import { realpath } from 'node:fs/promises'
import type { Invitation } from '../../core/rails/invitation.ts'
import {
  commandRefusal,
  fillArgs,
  fillEnvironment,
  isInside,
  type CommandOptions,
  type CommandRules,
} from './options.ts'
import { COMMAND } from './kind.ts'
import { asText, fillJson } from '../template.ts'
import { RESULT_STATUSES } from '../../domain/run/outcome.ts'
import type { Perform } from '../host.ts'
import { strangerOf } from './account.ts'
import { runProcess, type ProcessEnd, type ProcessRequest } from './process.ts'
import { dispatchOf } from '../dispatch.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor } from '../executor.ts'
import { failure, readBody, reportOfAnswer, type ReadAgentResult } from '../http/answer.ts'
import { valuesOf } from '../http/execute.ts'

export interface CommandExecutorOptions {
  /** How the agent of an attempt is started; null: there is no such agent any more. */
  readonly optionsOf: (attempt: Attempt) => Promise<CommandOptions | null>
  /** What the operator lets agents start at this moment. */
  readonly rules: () => CommandRules
  /** As whom programs run; null: as ourselves, who are nobody special. */
  readonly account: { readonly uid: number; readonly gid: number } | null
  readonly readResult: ReadAgentResult
  /** How long a program that is asked to end has before it is killed; 2 seconds unless given. */
  readonly killAfterMs?: number | undefined
}

/** Shorter than the grace of a run that is stopped, so that the report of its end comes in time. */
const KILL_AFTER_MS = 2_000

/** What keeps a program from being started does not change by trying again. */
const refused = (message: string): AttemptReport => failure('command_failed', message, { retryable: false })

/** Starts programs of this machine. What they write is the answer, as the body of an agent over HTTP would be. */
export const createCommandExecutor =
  (options: CommandExecutorOptions): Executor =>
  async (attempt, context) => {
    const command = await options.optionsOf(attempt)
    if (command === null) return refused(`agent ${attempt.agentId} is gone, so nobody knows what to start`)
    const rules = options.rules()
    const refusal = commandRefusal(command, rules)
    if (refusal !== null) return refused(`executor.${refusal.field} ${refusal.message}`)
    const cwd = await directoryOf(command, rules)
    if (typeof cwd !== 'string') return refused(cwd.flaw)
    const invitation = await context.invite()
    const end = await runProcess(requestOf(command, { attempt, context, cwd, options, invitation }))
    return reportOf(end, { attempt, command, read: options.readResult })
  }

/** Starts the programs of a process, if its operator lists any. */
export const performCommand: Perform = (host) => {
  if (!host.commands().enabled) return null
  const agentOf = host.agentOf(COMMAND)
  return createCommandExecutor({
    rules: host.commands,
    readResult: host.readResult,
    account: strangerOf(),
    optionsOf: async (attempt) => (await agentOf(attempt))?.options ?? null,
  })
}

/** Where it is started. Links are followed first: a link must not lead out of what the operator has named. */
export async function directoryOf(
  { cwd }: Pick<CommandOptions, 'cwd'>,
  { directories }: CommandRules,
): Promise<string | { readonly flaw: string }> {
  const wanted = cwd ?? directories[0] ?? '/'
  try {
    const real = await realpath(wanted)
    if (cwd === null) return real
    const allowed = await Promise.all(directories.map((directory) => realpath(directory).catch(() => null)))
    const isAllowed = allowed.some((directory) => directory !== null && isInside(real, directory))
    return isAllowed ? real : { flaw: `${wanted} leads to ${real}, where no program may be started` }
  } catch (error) {
    return { flaw: `${wanted} cannot be started in: ${error instanceof Error ? error.message : String(error)}` }
  }
}

interface Starting {
  readonly attempt: Attempt
  readonly context: AttemptContext
  readonly cwd: string
  readonly options: CommandExecutorOptions
  readonly invitation: Invitation | null
}

function requestOf(command: CommandOptions, starting: Starting): ProcessRequest {
  const { attempt, context, cwd, options, invitation } = starting
  const values = valuesOf(attempt)
  const { stdin } = command
  return {
    program: command.program,
    args: fillArgs(command, values),
    env: { ...fillEnvironment(command, values), ...environmentOf(invitation) },
    stdin:
      stdin === null ? `${JSON.stringify(dispatchOf(attempt, null, invitation))}\n` : asText(fillJson(stdin, values)),
    ...{
      cwd,
      account: options.account,
      maxBytes: command.output_bytes,
      killAfterMs: options.killAfterMs ?? KILL_AFTER_MS,
    },
    ...{ signal: context.signal, heard: context.progress },
  }
}

/** What the command line of ours reads, so that a program can call it without a word. */
const environmentOf = (invitation: Invitation | null): Readonly<Record<string, string>> =>
  invitation === null
    ? {}
    : {
        ESCAPEMENT_KEY: invitation.key,
        ...(invitation.api_url === null ? {} : { ESCAPEMENT_URL: invitation.api_url }),
      }

interface Judging {
  readonly attempt: Attempt
  readonly command: CommandOptions
  readonly read: ReadAgentResult
}

function reportOf(end: ProcessEnd, { attempt, command, read }: Judging): AttemptReport {
  switch (end.kind) {
    case 'not_started':
      return refused(`${command.program} could not be started: ${end.message}`)
    case 'stopped':
      return { outcome: { kind: 'stopped' }, ...(end.stdout === '' ? {} : { output: end.stdout }) }
    case 'too_large':
      return failure(
        'answer_too_large',
        `${command.program} has written more: larger than ${command.output_bytes} bytes`,
      )
    case 'exited': {
      const body = bodyOf(end.stdout)
      const said = reportOfAnswer({ status: 200, headers: {}, body }, { when: null, attempt, read })
      if (end.code === 0) return said
      // Who says in so many words how it failed is believed; who says it went well and ends otherwise is not.
      if (isResult(body) && said.outcome.kind !== 'succeeded') return said
      const how = end.code === null ? `was ended by ${end.signal ?? 'a signal'}` : `ended with exit code ${end.code}`
      const message = `${command.program} ${how}${end.stderr === '' ? '' : `: ${end.stderr}`}`
      return { ...failure('command_failed', message), ...(body === null ? {} : { output: body }) }
    }
  }
}

/** What it wrote, as what it looks like: JSON, or text without the line break at its end. */
function bodyOf(stdout: string): unknown {
  const body = readBody(Buffer.from(stdout), {})
  const value = 'flaw' in body ? stdout : body.value
  return typeof value === 'string' ? value.replace(/\r?\n$/, '') : value
}

const isResult = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'status' in body && RESULT_STATUSES.some((one) => one === body.status)
