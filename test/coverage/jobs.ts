import type { CronJob, CronRunEntry } from '../../src/server/rpc/schema.ts'
import type { World } from './world.ts'

/** Creates a job by `cron.create`, switched on unless the fields say otherwise. */
export async function createJob(world: World, schedule: object, fields: object = {}): Promise<CronJob> {
  const params = { name: `${world.name} job`, message: 'tick', schedule, ...fields }
  return (await world.rpc<{ readonly job: CronJob }>('cron.create', params)).job
}

/** The job as `cron.list` shows it; undefined: it is gone. */
export async function jobOf(world: World, id: string): Promise<CronJob | undefined> {
  const { jobs } = await world.rpc<{ readonly jobs: readonly CronJob[] }>('cron.list', { includeDisabled: true })
  return jobs.find((job) => job.id === id)
}

/** The log of a job, newest first. */
export const logOf = async (world: World, jobId: string): Promise<readonly CronRunEntry[]> =>
  (await world.rpc<{ readonly entries: readonly CronRunEntry[] }>('cron.runs', { jobId })).entries

/** The log of a job when it has an entry of this status. */
export const loggedAs = (world: World, jobId: string, status: string): Promise<CronRunEntry> =>
  world.until(async () => {
    const entries = await logOf(world, jobId)
    const found = entries.find((entry) => entry.status === status)
    if (found === undefined) throw new Error(`so far: ${JSON.stringify(entries)}`)
    return found
  })
