import { chown, mkdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import type { AttemptApiAccess } from '../../domain/access/restrictions.ts'
import {
  commandRefusal,
  fillArgs,
  fillEnvironment,
  isInside,
  MAX_PROGRAM_OUTPUT_BYTES,
  serviceOf,
  type CommandOptions,
  type CommandPreset,
  type CommandRules,
} from './options.ts'
import { COMMAND } from './kind.ts'
import { createPresetRun, PRESETS } from './presets.ts'
import { createStreamMask } from '../../domain/secret/mask.ts'
import { secretNamesIn } from '../../domain/secret/secret-names.ts'
import { userMessageIn } from '../chat/conversation.ts'
import { asText, fillJson } from '../template.ts'
import { logEvent } from '../../domain/run/log-entry.ts'
import { RESULT_STATUSES } from '../../domain/run/outcome.ts'
import type { CreateExecutor } from '../host.ts'
import { type ProcessEnd, type ProcessRequest, runProcess, unprivilegedAccount } from './process.ts'
import { dispatchOf } from '../dispatch.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor, ExposedSecrets } from '../executor.ts'
import { failureReport, readBody, reportOfAnswer, type ReadAgentResult } from '../http/answer.ts'
import { templateValuesOf } from '../http/execute.ts'

export interface CommandExecutorOptions {
  /** The options of an attempt's agent; null when it no longer exists. */
  readonly optionsOf: (attempt: Attempt) => Promise<CommandOptions | null>
  /** The operator's current rules for programs. */
  readonly rules: () => CommandRules
  /** The user that programs run as; null: the user of this process, which is not root. */
  readonly account: { readonly uid: number; readonly gid: number } | null
  readonly readResult: ReadAgentResult
  /** The session that the program reported in the latest run of the attempt's session; null: none. */
  readonly lastSessionOf: (attempt: Attempt) => Promise<string | null>
  /** How long a program may take to exit after SIGTERM before it is killed; 2 s by default. */
  readonly killAfterMs?: number | undefined
}

/** Shorter than the grace period of a stopped run, so that the final report arrives in time. */
const KILL_AFTER_MS = 2_000

/** Refusals are not retried, because a retry would not change them. */
const refused = (message: string): AttemptReport => failureReport('command_failed', message, { retryable: false })

/** The executor for local programs. A program's output is read like the response of an HTTP agent. */
export const createCommandExecutor =
  (options: CommandExecutorOptions): Executor =>
  async (attempt, context) => {
    const command = await options.optionsOf(attempt)
    if (command === null) return refused(`agent ${attempt.agentId} no longer exists`)
    const rules = options.rules()
    const refusal = commandRefusal(command, rules)
    if (refusal !== null) return refused(`executor.${refusal.field} ${refusal.message}`)
    const { preset } = command
    if (preset !== null) return executePreset({ ...command, preset }, { attempt, context, options })
    const cwd = await directoryOf(command, rules)
    if (typeof cwd !== 'string') return refused(cwd.flaw)
    const invitation = await context.invite()
    const mask = createStreamMask(invitation === null ? [] : [invitation.key])
    const onOutput = (text: string): void => {
      if (text !== '') context.progress(text)
    }
    const starting = {
      attempt,
      context,
      cwd,
      options,
      invitation,
      onOutput: (text: string) => onOutput(mask.push(text)),
    }
    const end = await runProcess(requestOf(command, starting))
    onOutput(mask.end())
    return reportOf(end, { attempt, command, read: options.readResult })
  }

interface PresetStart {
  readonly attempt: Attempt
  readonly context: AttemptContext
  readonly options: CommandExecutorOptions
}

/** The events of a program may be much larger than its answer. */
const MAX_PRESET_OUTPUT_BYTES = 64 * MAX_PROGRAM_OUTPUT_BYTES
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin'

/** Starts an agent for the command line in its workspace, with its prompt as input. */
async function executePreset(
  command: CommandOptions & { readonly preset: CommandPreset },
  { attempt, context, options }: PresetStart,
): Promise<AttemptReport> {
  const cwd = await workspaceOf(command, attempt, options)
  if (typeof cwd !== 'string') return refused(cwd.flaw)
  const secrets = await openEnvironment(command, context)
  if (!secrets.ok) return failureReport('secret_refused', secrets.message)
  const values = { ...templateValuesOf(attempt), secrets: secrets.values }
  const session = command.resume ? await options.lastSessionOf(attempt) : null
  const resumed = session !== null && /^\w[\w.-]{0,199}$/.test(session) ? session : null
  const mask = createStreamMask(Object.values(secrets.values))
  const show = (event: unknown): void => {
    const shown = typeof event === 'string' ? mask.push(event) : event
    if (shown !== '') context.progress(shown)
  }
  const run = createPresetRun(command, show)
  const end = await runProcess({
    program: command.program,
    args: PRESETS[command.preset].args(fillArgs(command, values), resumed),
    env: {
      ...environmentOf(await context.invite()),
      ...(resumed === null ? {} : { RESUME_SESSION_ID: resumed }),
      ...Object.fromEntries(Object.entries(command.env).map(([name, text]) => [name, asText(fillJson(text, values))])),
      ...{ HOME: cwd, PATH: `${path.dirname(command.program)}:${SYSTEM_PATH}`, NO_COLOR: '1' },
    },
    stdin: `${userMessageIn(attempt.payload).text}\n`,
    ...{ cwd, account: options.account, signal: context.signal, onOutput: run.push },
    onErrorLine: (line) => {
      context.progress(logEvent('info', line, { source: 'stderr' }))
    },
    ...{ maxBytes: MAX_PRESET_OUTPUT_BYTES, killAfterMs: options.killAfterMs ?? KILL_AFTER_MS },
  })
  const report = run.report(end)
  const last = mask.end()
  if (last !== '') context.progress(last)
  return report
}

/** The working directory: the given one, or one of the agent's own below the first allowed directory. */
async function workspaceOf(
  { cwd }: CommandOptions,
  { agentId }: Attempt,
  { rules, account }: CommandExecutorOptions,
): Promise<string | { readonly flaw: string }> {
  const { directories } = rules()
  const [first] = directories
  if (cwd !== null) return directoryOf({ cwd }, { ...rules(), directories })
  if (first === undefined) return { flaw: 'executors.command.directories is empty: the agent has no workspace' }
  const own = path.join(first, encodeURIComponent(agentId).replace(/^\.+$/, '_'))
  try {
    const created = await mkdir(own, { recursive: true, mode: 0o700 })
    if (created !== undefined && account !== null) await chown(own, account.uid, account.gid)
  } catch (error) {
    return { flaw: `${own} cannot be created: ${error instanceof Error ? error.message : String(error)}` }
  }
  return directoryOf({ cwd: own }, rules())
}

/** Opens the secrets in the environment for the service that they belong to. */
async function openEnvironment(command: CommandOptions, context: AttemptContext): Promise<ExposedSecrets> {
  const names = secretNamesIn(command.env)
  const url = serviceOf(command)
  return names.length === 0 || url === null ? { ok: true, values: {} } : context.expose({ names, url })
}

/** Creates the command executor of a process, if the operator enabled programs. */
export const createCommandExecutorFor: CreateExecutor = (host) => {
  if (!host.commands().enabled) return null
  const agentOf = host.agentOf(COMMAND)
  return createCommandExecutor({
    rules: host.commands,
    readResult: host.readResult,
    account: unprivilegedAccount(),
    lastSessionOf: host.lastSessionOf,
    optionsOf: async (attempt) => (await agentOf(attempt))?.options ?? null,
  })
}

/**
 * Resolves the working directory. Links are followed first, because a link must not lead out of the allowed
 * directories.
 */
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
    return isAllowed ? real : { flaw: `${wanted} resolves to ${real}, which is outside the allowed directories` }
  } catch (error) {
    return {
      flaw: `${wanted} cannot be used as working directory: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}

interface ProgramStart {
  readonly attempt: Attempt
  readonly context: AttemptContext
  readonly cwd: string
  readonly options: CommandExecutorOptions
  readonly invitation: AttemptApiAccess | null
  readonly onOutput: (text: string) => void
}

function requestOf(command: CommandOptions, starting: ProgramStart): ProcessRequest {
  const { attempt, context, cwd, options, invitation } = starting
  const values = templateValuesOf(attempt)
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
    ...{ signal: context.signal, onOutput: starting.onOutput },
    onErrorLine: (line) => {
      context.progress(logEvent('info', line, { source: 'stderr' }))
    },
  }
}

/** The variables that our CLI reads, so that a program can call it without further setup. */
const environmentOf = (invitation: AttemptApiAccess | null): Readonly<Record<string, string>> =>
  invitation === null
    ? {}
    : {
        ESCAPEMENT_KEY: invitation.key,
        ...(invitation.api_url === null ? {} : { ESCAPEMENT_URL: invitation.api_url }),
      }

interface CommandContext {
  readonly attempt: Attempt
  readonly command: CommandOptions
  readonly read: ReadAgentResult
}

function reportOf(end: ProcessEnd, { attempt, command, read }: CommandContext): AttemptReport {
  switch (end.kind) {
    case 'not_started':
      return refused(`${command.program} could not be started: ${end.message}`)
    case 'stopped':
      return { outcome: { kind: 'stopped' }, ...(end.stdout === '' ? {} : { output: end.stdout }) }
    case 'too_large':
      return failureReport(
        'answer_too_large',
        `the output of ${command.program} is larger than ${command.output_bytes} bytes`,
      )
    case 'exited': {
      const body = bodyOf(end.stdout)
      const report = reportOfAnswer({ status: 200, headers: {}, body }, { when: null, attempt, read })
      if (end.code === 0) return report
      // A reported failure is used as it is; a reported success with a failing exit code is not.
      if (isResult(body) && report.outcome.kind !== 'succeeded') return report
      const how = end.code === null ? `was terminated by ${end.signal ?? 'a signal'}` : `exited with code ${end.code}`
      const message = `${command.program} ${how}${end.stderr === '' ? '' : `: ${end.stderr}`}`
      return { ...failureReport('command_failed', message), ...(body === null ? {} : { output: body }) }
    }
  }
}

/** The output: parsed if it is JSON, otherwise text without the final line break. */
function bodyOf(stdout: string): unknown {
  const body = readBody(Buffer.from(stdout), {})
  const value = 'flaw' in body ? stdout : body.value
  return typeof value === 'string' ? value.replace(/\r?\n$/, '') : value
}

const isResult = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'status' in body && RESULT_STATUSES.some((one) => one === body.status)
