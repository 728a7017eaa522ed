import { watch, type FSWatcher } from 'node:fs'
import type { ConfigChange, ConfigReloader } from '../platform/config/reload.ts'
import { addAll } from '../domain/long-lists.ts'
import { describeFlaw, type Parsed } from '../domain/input.ts'
import { createLoop, sleep } from '../engine/loops/loop.ts'
import type { ServerLog } from '../platform/log/server-log.ts'
import { fileComplaints, type FilePositions, findConfigFile, readFound, watchedDirectories } from './configuration.ts'

/** Keeps the configuration up to date with its file and the stored settings. */
export interface Reloading {
  readonly start: () => void
  readonly stop: () => Promise<void>
  /** Reads the file again even if it is unchanged, as SIGHUP requests. */
  readonly reload: () => Promise<void>
  /** Applies the settings stored for every node. */
  readonly refresh: () => Promise<void>
  /** Requests a refresh without waiting for it. */
  readonly wake: () => void
}

export interface ReloadingContext {
  readonly live: ConfigReloader
  readonly places: FilePositions
  /** The text of the file at startup. */
  readonly text: string | null
  readonly log: ServerLog['log']
  readonly loadStored: () => Promise<{
    readonly layer: ReadonlyMap<string, unknown>
    readonly unreadable: readonly string[]
  }>
  /** Called after the configuration has changed. */
  readonly applied: (source: 'file' | 'stored', change: ConfigChange) => void
  readonly pollMs: number
}

/** Debounce time, because editors write a file in several steps. */
const SETTLE_MS = 50
/** The link that Kubernetes replaces when it updates mounted files. */
const KUBERNETES_DATA_LINK = '..data'
/** Polling interval, because some file systems send no change events. */
const CONFIG_POLL_MS = 5_000

/** Watches and polls: change events make a reload faster, polling makes it certain. */
export function createReloading(ctx: ReloadingContext): Reloading {
  const file = createFileReader(ctx)
  let lastWarning = ''
  const refresh = async (): Promise<void> => {
    const { layer, unreadable } = await ctx.loadStored()
    if (unreadable.length > 0 && lastWarning !== unreadable.join()) {
      lastWarning = unreadable.join()
      ctx.log({
        level: 'warn',
        message: 'Ignoring invalid stored settings',
        facts: { settings: unreadable },
      })
    }
    applyChange(ctx, 'stored', ctx.live.takeStored(layer))
  }
  // Retries after an unreadable file or unavailable database, which are logged elsewhere.
  const options = { sleep, onError: () => CONFIG_POLL_MS }
  const files = createLoop(() => file.check('changed'), { ...options, everyMs: CONFIG_POLL_MS })
  const stored = createLoop(() => refresh().then(() => undefined), { ...options, everyMs: ctx.pollMs })
  const watchers: FSWatcher[] = []
  return {
    start: () => {
      for (const [directory, names] of watchedDirectories(ctx.places))
        addAll(watchers, watchDirectory(directory, names, files.wake))
      files.start()
      stored.start()
    },
    stop: async () => {
      for (const watcher of watchers) watcher.close()
      await Promise.all([files.stop(), stored.stop()])
    },
    reload: () => file.check('asked').then(() => undefined),
    refresh,
    wake: stored.wake,
  }
}

/**
 * Watches the directory instead of the file, because editors replace the file by renaming a copy. Ignores other files in
 * it, such as a log, whose constant changes would keep resetting the debounce timer.
 */
function watchDirectory(directory: string, names: ReadonlySet<string>, changed: () => void): readonly FSWatcher[] {
  let timer: NodeJS.Timeout | undefined
  const settle = (_: string, name: string | null): void => {
    if (name !== null && !names.has(name) && name !== KUBERNETES_DATA_LINK) return
    clearTimeout(timer)
    timer = setTimeout(changed, SETTLE_MS).unref()
  }
  try {
    const watcher = watch(directory, { persistent: false }, settle)
    // The directory may be removed; polling continues.
    watcher.on('error', () => undefined)
    return [watcher]
  } catch {
    return []
  }
}

interface FileReader {
  readonly check: (why: 'changed' | 'asked') => Promise<undefined>
}

function createFileReader(ctx: ReloadingContext): FileReader {
  let last = ctx.text
  let lastError = ''
  const reportError = (message: string, why: 'changed' | 'asked'): void => {
    // Logs an unchanged error only once.
    if (message !== lastError || why === 'asked')
      ctx.log({
        level: 'error',
        message: 'The configuration file is invalid; keeping the current configuration',
        facts: { errors: message.split('\n') },
      })
    lastError = message
  }
  const readFile = async (why: 'changed' | 'asked'): Promise<void> => {
    const found = await findConfigFile(ctx.places)
    if (found === null) {
      if (last !== null) reportError('the configuration file no longer exists', why)
      else if (why === 'asked')
        ctx.log({ level: 'info', message: 'There is no configuration file to reload', facts: {} })
      return
    }
    if (found.text === last && why === 'changed') return
    last = found.text
    const read = readFound(found)
    if (!read.ok) {
      reportError(fileComplaints(found.path, read).join('\n'), why)
      return
    }
    const change = ctx.live.takeFile(read.layer)
    if (!change.ok) {
      reportError(change.flaws.map((flaw) => `${found.path}: ${describeFlaw(flaw)}`).join('\n'), why)
      return
    }
    lastError = ''
    logFileChange(ctx, found.path, change.value)
    applyChange(ctx, 'file', change)
  }
  let pendingCheck: Promise<undefined> = Promise.resolve(undefined)
  return {
    // One at a time, so that the last read wins.
    check: (why) => {
      pendingCheck = pendingCheck.then(async () => {
        await readFile(why).catch((error: unknown) =>
          reportError(error instanceof Error ? error.message : String(error), why),
        )
        return undefined
      })
      return pendingCheck
    },
  }
}

function logFileChange(
  { log }: ReloadingContext,
  file: string,
  { changed, restart, kept, overruled }: ConfigChange,
): void {
  const facts = {
    file,
    changed,
    ...(restart.length > 0 ? { needs_restart: restart } : {}),
    ...(kept.length > 0 ? { kept } : {}),
    ...(overruled.length > 0 ? { overruled } : {}),
  }
  const message =
    Object.keys(changed).length === 0 ? 'Configuration reloaded; nothing changed' : 'Configuration reloaded'
  log({ level: 'info', message, facts })
  if (restart.length > 0)
    log({
      level: 'warn',
      message: 'Some changed settings take effect only after a restart',
      facts: { needs_restart: restart },
    })
}

function applyChange(ctx: ReloadingContext, source: 'file' | 'stored', change: Parsed<ConfigChange>): void {
  if (!change.ok) {
    ctx.log({
      level: 'error',
      message: 'Ignoring stored settings that conflict with other settings',
      facts: { errors: change.flaws.map(describeFlaw) },
    })
    return
  }
  if (Object.keys(change.value.changed).length === 0) return
  if (source === 'stored')
    ctx.log({ level: 'info', message: 'Configuration reloaded', facts: { source, changed: change.value.changed } })
  ctx.applied(source, change.value)
}
