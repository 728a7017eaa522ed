// The cost of idling. Each function runs in a separate process; `file` is a module like those in bench/peers/schedules.
import { pathToFileURL } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSecondsOf } from '../server.mjs'
import { cpuSeconds } from '../world.mjs'

/** Creates schedules that are not due. */
export async function make({ file, url, count }) {
  const module = await import(pathToFileURL(file).href)
  await module.make(url, { count })
}

/** Startup times in milliseconds, repeated in one process; the first one includes loading code. */
export async function startUps({ file, url, times }) {
  const { run } = await import(pathToFileURL(file).href)
  const all = []
  for (let i = 0; i < times; i += 1) {
    const began = performance.now()
    const running = await run(url, {})
    all.push(performance.now() - began)
    await running.close()
  }
  return all
}

/** CPU time and memory of an idle program, and CPU time of the server. */
export async function idle({ file, url, count, seconds, settleSeconds, pid, ...options }) {
  const { run } = await import(pathToFileURL(file).href)
  const began = performance.now()
  const running = await run(url, { count, ...options })
  const startMs = performance.now() - began
  await sleep(settleSeconds * 1_000)
  const node = cpuSeconds()
  const server = cpuSecondsOf(pid)
  await sleep(seconds * 1_000)
  const result = {
    startMs,
    nodeCpuPercent: ((cpuSeconds() - node) / seconds) * 100,
    serverCpuPercent: server === null ? null : ((cpuSecondsOf(pid) - server) / seconds) * 100,
    rssMiB: process.memoryUsage().rss / 2 ** 20,
    peakRssMiB: process.resourceUsage().maxRSS / 1024,
  }
  await running.close()
  return result
}
