// In the process of a contestant: loads its module by path, so that this process loads nothing else.
import { pathToFileURL } from 'node:url'

/** The module of a contestant, with its variant applied. */
export async function load({ file, variant }) {
  const module = await import(pathToFileURL(file).href)
  return {
    prepare: module.prepare,
    observe: module.observe,
    open: (url, options) => module.open(url, { ...options, variant }),
    dueTogether: (url, options) => module.dueTogether(url, { ...options, variant }),
  }
}

/** One count from the store of a contestant. */
export async function countsOf({ observe }, url) {
  const observer = await observe(url)
  try {
    return await observer.counts()
  } finally {
    await observer.close()
  }
}
