import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../src/platform/db/migrate.ts'
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import { parsePid } from '../../src/platform/db/embedded/pid-file.ts'
import { defaultHomeOf } from '../../src/platform/db/embedded/place.ts'
import { openPostgres } from '../../src/platform/db/postgres/postgres.ts'
import type { ConnectionTarget } from '../../src/platform/db/postgres/target.ts'
import { TEMPLATE } from './database.ts'
import { onInterruption } from './interruption.ts'
import { binariesUnderTest } from './postgres-under-test.ts'
import { makeScratch } from './scratch.ts'
import { runOn, withDatabase } from './server-databases.ts'
import { makeSmallProgram } from './small-program.ts'

/** Before the first test that needs a database: a server and the template. Afterwards, however it ends: nothing is left. */
export async function setup(project: TestProject): Promise<() => Promise<unknown>> {
  const directory = makeScratch('escapement-store-')
  const programDirectory = makeScratch('escapement-program-', 'programs')
  const directories = [directory, programDirectory]
  // As root the server and some children run as other users, who have to get in.
  for (const each of directories) chmodSync(each, 0o755)
  const remove = (): void => directories.forEach((each) => rmSync(each, { recursive: true, force: true }))
  const callOff = onInterruption(() => {
    killServer(path.join(directory, 'data'))
    remove()
  })
  try {
    const { server, stop } = await findServer(directory)
    await makeTemplate(server)
    project.provide('databaseServer', server)
    project.provide('smallProgram', makeSmallProgram(path.join(programDirectory, 'program')))
    return () =>
      stop().finally(() => {
        callOff()
        remove()
      })
  } catch (error) {
    callOff()
    remove()
    throw error
  }
}

/** A server by URL if one is given, else an embedded one of the version under test. */
async function findServer(
  directory: string,
): Promise<{ readonly server: ConnectionTarget; readonly stop: () => Promise<unknown> }> {
  const url = process.env['ESCAPEMENT_TEST_DATABASE_URL']
  if (url !== undefined && url !== '')
    return { server: url, stop: () => runOn(url, `drop database if exists ${TEMPLATE} with (force)`) }
  const embedded = await startEmbedded({
    data: path.join(directory, 'data'),
    systemDirectory: path.join(directory, 'system'),
    packageDirectory: binariesUnderTest(),
  })
  const server = embedded.target
  // Nothing here has to survive a power cut, and a database is made for every file.
  await runOn(server, 'alter system set fsync = off')
  await runOn(server, 'select pg_reload_conf()')
  return { server, stop: embedded.leave }
}

/** Ends an embedded server at once. Nobody will ask for its data again. */
function killServer(data: string): void {
  const file = path.join(defaultHomeOf(data), 'data/postmaster.pid')
  const pid = existsSync(file) ? parsePid(readFileSync(file, 'utf8')) : undefined
  if (pid !== undefined) process.kill(pid, 'SIGQUIT')
}

async function makeTemplate(server: ConnectionTarget): Promise<void> {
  await runOn(server, `drop database if exists ${TEMPLATE} with (force)`)
  await runOn(server, `create database ${TEMPLATE} template template0`)
  const database = await openPostgres({ target: withDatabase(server, TEMPLATE) })
  try {
    await migrate(database)
  } finally {
    await database.close()
  }
}
