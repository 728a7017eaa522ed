// `npm run docs`: writes the generated sections of the documents. The tests in test/docs compare the same texts.
import { writeFileSync } from 'node:fs'
import { ERROR_CODES } from '../dist/core/run/error-codes.js'
import { REASONS } from '../dist/core/reasons.js'
import { renderRunStates } from '../dist/core/run/run-machine.js'
import { compareSection, SECTIONS } from './docs/sections.mjs'

for (const section of SECTIONS) {
  const { filepath, current, fresh } = await compareSection(section, { ERROR_CODES, REASONS, renderRunStates })
  if (fresh !== current) writeFileSync(filepath, fresh)
  process.stdout.write(`${fresh === current ? 'unchanged' : 'written  '}  ${section.file} (${section.name})\n`)
}
