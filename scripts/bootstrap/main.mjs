import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { transpileAll, whyBuild } from './build.mjs'
import { install, whyInstall } from './install.mjs'
import { withLock } from './lock.mjs'
import { endWithNpm } from './npm-ended.mjs'
import { runScript } from './run-script.mjs'
import { Stop } from './stop.mjs'

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

const OMIT_DEV = '--omit=dev'

/**
 * Prepares the checkout, then runs the given script, if any. With `--omit=dev` before the script, development packages are
 * not needed.
 */
export async function main(given) {
  const omitDev = given[0] === OMIT_DEV
  const [script, ...args] = omitDev ? given.slice(1) : given
  endWithNpm()
  try {
    await prepare(ROOT, { omitDev })
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    if (error.message !== '') process.stderr.write(`${error.message}\n`)
    leave(error)
    return
  }
  if (script !== undefined) leave(await runScript(path.resolve(ROOT, script), args))
}

async function prepare(root, packages) {
  if (reasons(root, packages) === undefined) return
  await withLock(root, async () => {
    // Check again, because another command may have done the work while this one waited for the lock.
    const todo = reasons(root, packages)
    if (todo === undefined) return
    process.stderr.write(`${announcement(todo)}\n`)
    if (todo.install !== undefined) await install(root, packages)
    if (todo.build !== undefined) await transpileAll(root)
  })
}

function reasons(root, packages) {
  const todo = { install: whyInstall(root, packages), build: whyBuild(root) }
  return todo.install === undefined && todo.build === undefined ? undefined : todo
}

function announcement(todo) {
  const steps = []
  if (todo.install !== undefined) steps.push(`install packages (${todo.install})`)
  if (todo.build !== undefined) steps.push(`build dist/ (${todo.build})`)
  return `Escapement prepares this checkout: ${steps.join(', then ')}.`
}

/** Ends this process as the script ended: with its exit code, or by its signal. */
function leave({ code, signal }) {
  if (signal === undefined || signal === null) {
    process.exitCode = code
    return
  }
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}
