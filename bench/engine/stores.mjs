// The stores of one part: one PostgreSQL for all contestants, and a Redis for each measurement that needs one.
import { startRedis } from './redis.mjs'
import { startServer } from './server.mjs'

/** Starts the stores that a part needs. `stop` ends all of them. */
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
    /** Runs `work` with an empty store of the contestant's kind and removes it afterwards. */
    withStore: (contestant, name, work) =>
      contestant.engine === 'redis'
        ? withRedis(contestant.appendfsync, work)
        : server.withDatabase(name, (url) => work({ url, pid: server.pid, database: name })),
    stop: () => Promise.all([...running].map((one) => one.stop())),
  }
}
