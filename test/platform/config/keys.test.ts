import { describe, expect, it } from 'vitest'
import { readVariables, variableOf } from '../../../src/platform/config/environment.ts'
import { combine, NO_LAYERS } from '../../../src/platform/config/reload.ts'
import { CONFIG_KEYS } from '../../../src/platform/config/keys.ts'
import { defaultLayer, readLayer } from '../../../src/platform/config/tree.ts'
import { configPatchSchema, configSchema } from '../../../src/platform/config/view.ts'
import { COMPLETE, fileWith, layerOf, OTHERS, otherValue, PLACED } from './samples.ts'

const paths = PLACED.map(({ path }) => path)

describe('the settings', () => {
  it('are those of the documented file, with its values as defaults', () => {
    expect(Object.fromEntries(layerOf(COMPLETE))).toEqual(Object.fromEntries(defaultLayer(CONFIG_KEYS)))
  })

  it('are all tried here', () => {
    expect(Object.keys(OTHERS).sort()).toEqual([...paths].sort())
  })

  it('have one variable each', () => {
    expect(new Set(paths.map(variableOf)).size).toBe(paths.length)
    expect(variableOf('tasks.max_per_agent')).toBe('ESCAPEMENT_TASKS_MAX_PER_AGENT')
  })

  it('say of a million wrong entries what is wrong with the first', () => {
    const read = readLayer(CONFIG_KEYS, { server: { allowed_hosts: Array.from({ length: 1_000_000 }, () => '') } })
    expect(read.ok ? [] : read.flaws.map(({ message }) => message).slice(-2)).toEqual([
      'must not be empty',
      'and 999980 more mistakes',
    ])
  })

  it('become one frozen object', () => {
    const made = combine({ ...NO_LAYERS, file: layerOf('server: { allowed_hosts: [a] }') })
    if (!made.ok) throw new Error('refused')
    const { config } = made.value
    for (const part of [config, config.server, config.server.rate_limit, config.server.allowed_hosts, config.lanes])
      expect(Object.isFrozen(part)).toBe(true)
  })
})

describe.each(paths)('%s', (path) => {
  const other = OTHERS[path]

  it('is read from the file', () => {
    expect(layerOf(fileWith(path, other?.file)).get(path)).toEqual(otherValue(path))
  })

  it('is read from its variable', () => {
    const read = readVariables({ [variableOf(path)]: other?.text })
    expect([read.flaws, read.warnings]).toEqual([[], []])
    expect(read.layer.get(path)).toEqual(otherValue(path))
  })

  it('has a default that its own rule allows', () => {
    const { key } = PLACED.find((placed) => placed.path === path) ?? {}
    expect(key?.parse(path, key.default)).toEqual({ ok: true, value: key?.default })
  })
})

describe('the schemas', () => {
  it('take every setting in the file, and in a change only what is hot', () => {
    const asked = (schema: typeof configSchema): readonly string[] =>
      paths.filter((path) => schema.safeParse(JSON.parse(fileWith(path, otherValue(path)))).success)
    expect(asked(configSchema)).toEqual(paths)
    expect(asked(configPatchSchema)).toEqual(PLACED.filter(({ key }) => key.hot).map(({ path }) => path))
  })
})
