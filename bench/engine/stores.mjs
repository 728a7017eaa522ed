// The stores of one part: one PostgreSQL for everybody, and a Redis for each measurement of who needs one.
import { startRedis } from './redis.mjs'
import { startServer } from './server.mjs'

/** Starts what a part needs. `stop` ends everything that is still there. */
export async function openStores({ settings, store }) {
  const server = store === 'none' ? undefined : await startServer(settings)
  const running = new Set(server === undefined ? [] : [server])
  const withRedis = async (appendfsync, work) => {
    const redis = await startRedis(appendfsync)
    running.add(redis)
    try {
      return await work({ url: redis.url, pid: redis.pid })
    } finally {
      running.delete(redis)
      await redis.stop()
    }
  }
  return {
    server,
    /** Runs `work` with an empty store of the contestant's kind and throws it away afterwards. */
    withStore: (contestant, name, work) =>
      contestant.engine === 'redis'
        ? withRedis(contestant.appendfsync, work)
        : server.withDatabase(name, (url) => work({ url, pid: server.pid, database: name })),
    stop: () => Promise.all([...running].map((one) => one.stop())),
  }
}
