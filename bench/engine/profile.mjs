// A CPU profile of a part of this process; a profile of the whole process would mostly show the loading of modules.
import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import path from 'node:path'

/** Starts at once; returns a function that ends the profile and writes it to the folder. */
export function startProfile(folder) {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: 200 })
  session.post('Profiler.start')
  return () =>
    new Promise((resolve, reject) => {
      session.post('Profiler.stop', (error, answer) => {
        session.disconnect()
        if (error !== null) {
          reject(new Error(error.message))
          return
        }
        mkdirSync(folder, { recursive: true })
        writeFileSync(path.join(folder, `drain-${process.pid}.cpuprofile`), JSON.stringify(answer.profile))
        resolve()
      })
    })
}
