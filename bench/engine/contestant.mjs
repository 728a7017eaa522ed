// The process of one measurement: `contestant.mjs <module> <export>`; the argument of the export comes as the first message.
import { pathToFileURL } from 'node:url'

const [file, name] = process.argv.slice(2)
const options = await new Promise((resolve) => {
  process.once('message', resolve)
})

try {
  const module = await import(pathToFileURL(file).href)
  await answer({ value: (await module[name](options)) ?? null })
} catch (error) {
  await answer({ error: error?.stack ?? String(error) })
}
// Whatever a contestant left open must not keep the next one waiting.
process.exit(0)

function answer(message) {
  return new Promise((resolve) => {
    process.send(message, resolve)
  })
}
