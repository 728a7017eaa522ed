import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'

const BUILT = path.join(ROOT, 'dist/ui')
const MOST_BYTES = 300_000

interface Chunk {
  readonly file: string
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
}

const manifest = (): Readonly<Record<string, Chunk>> =>
  JSON.parse(readFileSync(path.join(BUILT, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>

/** What is loaded with a chunk, it and everything it imports. */
function loadedWith(chunks: Readonly<Record<string, Chunk>>, ...entries: readonly string[]): readonly string[] {
  const found = new Set(entries)
  // A set that grows while it is walked is walked to its end.
  for (const name of found) for (const imported of chunks[name]?.imports ?? []) found.add(imported)
  return [...found].map((name) => chunks[name]?.file ?? name)
}

const packedSize = (file: string): number => gzipSync(readFileSync(path.join(BUILT, file)), { level: 9 }).length

describe.skipIf(!existsSync(BUILT))('what a browser loads', () => {
  it('is less than 300 kB of script before any page, and with the first one', () => {
    const chunks = manifest()
    const pages = Object.keys(chunks).filter((name) => /^pages\/.*Page\.tsx$/.test(name))
    expect(pages).toContain('pages/overview/OverviewPage.tsx')
    for (const page of pages) {
      const files = loadedWith(chunks, 'index.html', page).filter((file) => file.endsWith('.js'))
      const bytes = files.reduce((sum, file) => sum + packedSize(file), 0)
      expect(bytes, `${page} loads ${files.join(', ')}`).toBeLessThan(MOST_BYTES)
    }
  })

  it('has a chunk of its own for every page', () => {
    const chunks = manifest()
    const first = loadedWith(chunks, 'index.html')
    const pages = Object.keys(chunks).filter((name) => name.startsWith('pages/'))
    expect(pages).toContain('pages/overview/OverviewPage.tsx')
    for (const page of pages) expect(first).not.toContain(chunks[page]?.file)
  })

  it('names no place but the server it came from, and has no secret in it', () => {
    for (const { file } of Object.values(manifest())) {
      if (!file.endsWith('.js')) continue
      const text = readFileSync(path.join(BUILT, file), 'utf8')
      expect(text, file).not.toMatch(/esc_[\w-]{43}|sourceMappingURL|process\.env\./)
    }
    expect(readFileSync(path.join(BUILT, 'index.html'), 'utf8')).not.toMatch(/https?:|<script>|style=| on\w+=/)
  })
})
