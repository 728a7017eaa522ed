import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const LOCK = '.bootstrap.lock'
const POLL_MS = 200
/** A lock directory has no owner only for an instant, unless the process that created it died right then. */
const UNOWNED_MS = 10_000

/** Allows one preparation per checkout at a time, because two `npm ci` in one node_modules break each other. */
export async function withLock(root, work) {
  const lock = path.join(root, LOCK)
  await take(lock)
  const release = () => rmSync(lock, { recursive: true, force: true })
  process.once('exit', release)
  try {
    return await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

async function take(lock) {
  let told = false
  for (;;) {
    try {
      mkdirSync(lock)
      writeFileSync(path.join(lock, 'owner.json'), JSON.stringify({ pid: process.pid, host: os.hostname() }))
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const owner = readOwner(lock)
    if (isStale(lock, owner)) {
      breakLock(lock, owner)
      continue
    }
    if (!told)
      process.stderr.write(
        `Another command${owner ? ` (process ${owner.pid})` : ''} is preparing this checkout; waiting for it.\n`,
      )
    told = true
    await sleep(POLL_MS)
  }
}

function isStale(lock, owner) {
  if (owner === undefined) return ageMs(lock) > UNOWNED_MS
  if (owner.host !== os.hostname()) return false
  try {
    process.kill(owner.pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

/**
 * If several processes find the same stale lock, only one can rename it. A late process may rename the winner's new lock
 * instead; it detects that by the owner and renames it back.
 */
function breakLock(lock, dead) {
  const grave = `${lock}.${process.pid}`
  try {
    renameSync(lock, grave)
  } catch {
    return
  }
  if (readOwner(grave)?.pid === dead?.pid) rmSync(grave, { recursive: true, force: true })
  else renameSync(grave, lock)
}

function readOwner(lock) {
  try {
    return JSON.parse(readFileSync(path.join(lock, 'owner.json'), 'utf8'))
  } catch {
    return undefined
  }
}

function ageMs(lock) {
  try {
    return Date.now() - statSync(lock).mtimeMs
  } catch {
    return 0
  }
}
