import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, whyBuild } from './build.mjs'
import { install, whyInstall } from './install.mjs'
import { withLock } from './lock.mjs'
import { endWithNpm } from './npm-ended.mjs'
import { runScript } from './run-script.mjs'
import { Stop } from './stop.mjs'

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

/** Prepares the checkout, then becomes the given script. Without a script it only prepares. */
export async function main([script, ...args]) {
  endWithNpm()
  try {
    await prepare(ROOT)
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    if (error.message !== '') process.stderr.write(`${error.message}\n`)
    leave(error)
    return
  }
  if (script !== undefined) leave(await runScript(path.resolve(ROOT, script), args))
}

async function prepare(root) {
  if (reasons(root) === undefined) return
  await withLock(root, async () => {
    // Asked again, because somebody else may have done the work while we waited for the lock.
    const todo = reasons(root)
    if (todo === undefined) return
    process.stderr.write(`${announcement(todo)}\n`)
    if (todo.install !== undefined) await install(root)
    if (todo.build !== undefined) await build(root)
  })
}

function reasons(root) {
  const todo = { install: whyInstall(root), build: whyBuild(root) }
  return todo.install === undefined && todo.build === undefined ? undefined : todo
}

function announcement(todo) {
  const steps = []
  if (todo.install !== undefined) steps.push(`install packages (${todo.install})`)
  if (todo.build !== undefined) steps.push(`build dist/ (${todo.build})`)
  return `Escapement prepares this checkout: ${steps.join(', then ')}.`
}

/** Ends this process the way the work ended: with its code, or by the signal that ended it. */
function leave({ code, signal }) {
  if (signal === undefined || signal === null) {
    process.exitCode = code
    return
  }
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}
