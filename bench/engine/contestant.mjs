// The process of one measurement: `contestant.mjs <module> <export>`. The first message contains the argument of the export.
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
// Handles that a contestant left open must not delay the next one.
process.exit(0)

function answer(message) {
  return new Promise((resolve) => {
    process.send(message, resolve)
  })
}
