import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'
import { textOf, trackedFiles } from './tracked-files.ts'

const LINK = /\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)/g
const ELSEWHERE = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

const documents = trackedFiles().filter((file) => file.endsWith('.md'))

describe('Markdown documents', () => {
  it('exist', () => {
    expect(documents).toContain('README.md')
  })

  it.each(documents)('%s links only to what is there', (document) => {
    expect(brokenLinks(document)).toEqual([])
  })

  it('would be caught with a broken link', () => {
    const links = linksOf('see [a](nowhere.md), [b](README.md#status), [c](https://example.org) and `[d](code.md)`')
    expect(links).toEqual(['nowhere.md', 'README.md#status'])
  })

  it('link to headings that exist', () => {
    expect(headingsOf('# A day, and *a* `b_c`!\n\n```\n# not one\n```\n## Twice\n## Twice\n')).toEqual([
      'a-day-and-a-b_c',
      'twice',
      'twice-1',
    ])
  })
})

function brokenLinks(document: string): readonly string[] {
  // Thousands of links of the reference lead to a few documents: each of those is read once.
  const known = new Map<string, ReadonlySet<string>>()
  const anchorsIn = (target: string): ReadonlySet<string> => {
    const anchors = known.get(target) ?? new Set(headingsOf(textOf(target)))
    known.set(target, anchors)
    return anchors
  }
  return linksOf(textOf(document)).filter((link) => {
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? document : path.join(path.dirname(document), decodeURIComponent(file))
    if (!existsSync(path.join(ROOT, target))) return true
    return anchor !== undefined && target.endsWith('.md') && !anchorsIn(target).has(anchor)
  })
}

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')

function linksOf(text: string): readonly string[] {
  return [...withoutCode(text).matchAll(LINK)].flatMap(([, link]) =>
    link === undefined || ELSEWHERE.test(link) ? [] : [link],
  )
}

/** Anchors as code hosts make them: lower case, punctuation gone, spaces to hyphens, repeats numbered. */
function headingsOf(text: string): readonly string[] {
  const seen = new Map<string, number>()
  return [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6}\s+(.*)$/gm)].map(([, title = '']) => {
    const slug = title
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
}
