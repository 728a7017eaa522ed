// What waiting costs. Each function runs in a process of its own; `file` is a module like those in bench/peers/schedules.
import { pathToFileURL } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSecondsOf } from '../server.mjs'
import { cpuSeconds } from '../world.mjs'

/** Writes schedules that are not due. */
export async function make({ file, url, count }) {
  const module = await import(pathToFileURL(file).href)
  await module.make(url, { count })
}

/** Milliseconds until it is up, again and again in one process: the first time also loads code. */
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

/** A program that has nothing to do: its processor time, its memory, and the server's processor time. */
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
