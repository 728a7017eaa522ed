import { watch, type FSWatcher } from 'node:fs'
import type { ConfigChange, ConfigKeeper } from '../platform/config/reload.ts'
import { addAll } from '../domain/long-lists.ts'
import { describeFlaw, type Parsed } from '../domain/input.ts'
import { createLoop, sleep } from '../engine/loops/loop.ts'
import type { ServerLog } from '../platform/log/server-log.ts'
import { fileComplaints, type FilePlaces, findConfigFile, readFound, watchedDirectories } from './configuration.ts'

/** Sees to it that the configuration follows its file and what is stored. */
export interface Reloading {
  readonly start: () => void
  readonly stop: () => Promise<void>
  /** Reads the file again, also when it looks the same: what SIGHUP does. */
  readonly reload: () => Promise<void>
  /** Takes in what is stored for every node. */
  readonly refresh: () => Promise<void>
  /** The same soon, for whoever cannot wait for it. */
  readonly wake: () => void
}

export interface ReloadingContext {
  readonly keeper: ConfigKeeper
  readonly places: FilePlaces
  /** The text the keeper has begun with. */
  readonly text: string | null
  readonly log: ServerLog['log']
  readonly loadStored: () => Promise<{
    readonly layer: ReadonlyMap<string, unknown>
    readonly unreadable: readonly string[]
  }>
  /** Another configuration holds from now on. */
  readonly applied: (source: 'file' | 'stored', change: ConfigChange) => void
  readonly pollMs: number
}

/** Editors write a file in several steps; looking once they are done is enough. */
const SETTLE_MS = 50
/** The link that changes where an orchestrator mounts files and replaces all of them at once. */
const MOUNTED = '..data'
/** Not every file system tells of changes. */
const LOOK_EVERY_MS = 5_000

/** Being told of a change only makes the look sooner; the period makes it certain. */
export function createReloading(ctx: ReloadingContext): Reloading {
  const file = createFileReader(ctx)
  let complained = ''
  const refresh = async (): Promise<void> => {
    const { layer, unreadable } = await ctx.loadStored()
    if (unreadable.length > 0 && complained !== unreadable.join()) {
      complained = unreadable.join()
      ctx.log({
        level: 'warn',
        message: 'Stored settings are not understood and left out',
        facts: { settings: unreadable },
      })
    }
    conclude(ctx, 'stored', ctx.keeper.takeStored(layer))
  }
  // A file that cannot be read, or a database that is away, is looked at again; whoever watches over it has said so.
  const options = { sleep, onError: () => LOOK_EVERY_MS }
  const files = createLoop(() => file.look('changed'), { ...options, everyMs: LOOK_EVERY_MS })
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
    reload: () => file.look('asked').then(() => undefined),
    refresh,
    wake: stored.wake,
  }
}

/**
 * Watches the directory, not the file: an editor that renames its copy over the file leaves a watch on nothing. What else
 * happens there is of no interest: the log may be written there, line after line, and the look would never be due.
 */
function watchDirectory(directory: string, names: ReadonlySet<string>, changed: () => void): readonly FSWatcher[] {
  let timer: NodeJS.Timeout | undefined
  const settle = (_: string, name: string | null): void => {
    if (name !== null && !names.has(name) && name !== MOUNTED) return
    clearTimeout(timer)
    timer = setTimeout(changed, SETTLE_MS).unref()
  }
  try {
    const watcher = watch(directory, { persistent: false }, settle)
    // The directory may go away; the period goes on.
    watcher.on('error', () => undefined)
    return [watcher]
  } catch {
    return []
  }
}

interface FileReader {
  readonly look: (why: 'changed' | 'asked') => Promise<undefined>
}

function createFileReader(ctx: ReloadingContext): FileReader {
  let last = ctx.text
  let complaint = ''
  const refuse = (message: string, why: 'changed' | 'asked'): void => {
    // What nobody has changed since is not said again and again.
    if (message !== complaint || why === 'asked')
      ctx.log({
        level: 'error',
        message: 'The configuration file is refused; the configuration in force stays',
        facts: { errors: message.split('\n') },
      })
    complaint = message
  }
  const take = async (why: 'changed' | 'asked'): Promise<void> => {
    const found = await findConfigFile(ctx.places)
    if (found === null) {
      if (last !== null) refuse('there is no configuration file any more', why)
      else if (why === 'asked') ctx.log({ level: 'info', message: 'There is no configuration file', facts: {} })
      return
    }
    if (found.text === last && why === 'changed') return
    last = found.text
    const read = readFound(found)
    if (!read.ok) {
      refuse(fileComplaints(found.path, read).join('\n'), why)
      return
    }
    const change = ctx.keeper.takeFile(read.layer)
    if (!change.ok) {
      refuse(change.flaws.map((flaw) => `${found.path}: ${describeFlaw(flaw)}`).join('\n'), why)
      return
    }
    complaint = ''
    tellFile(ctx, found.path, change.value)
    conclude(ctx, 'file', change)
  }
  let looking: Promise<undefined> = Promise.resolve(undefined)
  return {
    // One after the other, so that what was read last is what holds.
    look: (why) => {
      looking = looking.then(async () => {
        await take(why).catch((error: unknown) => refuse(error instanceof Error ? error.message : String(error), why))
        return undefined
      })
      return looking
    },
  }
}

function tellFile({ log }: ReloadingContext, file: string, { changed, restart, kept, overruled }: ConfigChange): void {
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
      message: 'Settings were changed that take effect with the next start',
      facts: { needs_restart: restart },
    })
}

function conclude(ctx: ReloadingContext, source: 'file' | 'stored', change: Parsed<ConfigChange>): void {
  if (!change.ok) {
    ctx.log({
      level: 'error',
      message: 'Stored settings do not fit with the rest and are left out',
      facts: { errors: change.flaws.map(describeFlaw) },
    })
    return
  }
  if (Object.keys(change.value.changed).length === 0) return
  if (source === 'stored')
    ctx.log({ level: 'info', message: 'Configuration reloaded', facts: { source, changed: change.value.changed } })
  ctx.applied(source, change.value)
}
