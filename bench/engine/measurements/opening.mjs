// Inside the process of a contestant: its module, by its path, so that this process loads nothing else.
import { pathToFileURL } from 'node:url'

/** The module of a contestant, told which of its variants it is. */
export async function load({ file, variant }) {
  const module = await import(pathToFileURL(file).href)
  return {
    prepare: module.prepare,
    observe: module.observe,
    open: (url, options) => module.open(url, { ...options, variant }),
    dueTogether: (url, options) => module.dueTogether(url, { ...options, variant }),
  }
}

/** What the store of a contestant holds when it is asked once. */
export async function countsOf({ observe }, url) {
  const observer = await observe(url)
  try {
    return await observer.counts()
  } finally {
    await observer.close()
  }
}
