import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { variableOf } from '../../src/platform/config/environment.ts'
import { CONFIG_KEYS } from '../../src/platform/config/keys.ts'
import { keysOf } from '../../src/platform/config/tree.ts'
import { METRICS } from '../../src/server/metrics/catalogue.ts'
import { textOf, trackedFiles } from './tracked-files.ts'

// What is in deploy/ is run by nobody here, so it is held to what the program knows.

const files = trackedFiles().filter((file) => file.startsWith('deploy/'))

/** Keys and places, which are no settings. */
const OTHERS = ['ESCAPEMENT_OWNER_KEY', 'ESCAPEMENT_SECRET_KEY', 'ESCAPEMENT_KEY', 'ESCAPEMENT_URL']
const known = new Set([...keysOf(CONFIG_KEYS).map(({ path }) => variableOf(path)), ...OTHERS])
const drainSeconds = CONFIG_KEYS.server.drain_grace_seconds.default

interface Service {
  readonly environment: Readonly<Record<string, string>>
  readonly stop_grace_period: string
  readonly healthcheck?: object
  readonly read_only?: boolean
}

describe('deploy/', () => {
  it.each(files)('%s names only variables that there are', (file) => {
    const named = [...textOf(file).matchAll(/ESCAPEMENT_[A-Z_]+/g)].map(([name]) => name)
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })

  it('has a compose file with PostgreSQL, three nodes alike and a proxy', () => {
    const { services } = parse(textOf('deploy/compose.yaml'), { merge: true }) as {
      readonly services: Readonly<Record<string, Service>>
    }
    expect(Object.keys(services)).toEqual(['postgres', 'node-1', 'node-2', 'node-3', 'proxy'])
    const node = services['node-1']
    expect([services['node-2'], services['node-3']]).toEqual([node, node])
    expect(services['postgres']?.healthcheck).toBeDefined()
    expect(Number.parseInt(node?.stop_grace_period ?? '', 10)).toBeGreaterThan(drainSeconds)
    expect(node?.environment['ESCAPEMENT_SERVER_DRAIN_GRACE_SECONDS']).toBe(String(drainSeconds))
    expect(node?.environment['ESCAPEMENT_SERVER_ALLOWED_HOSTS']).toBe('node-1,node-2,node-3')
    expect(textOf('deploy/Caddyfile')).toContain('reverse_proxy node-1:7420 node-2:7420 node-3:7420 {')
  })

  it('asks for every secret it uses in the environment file, and has none in it', () => {
    const asked = [...textOf('deploy/compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name)
    const lines = textOf('deploy/escapement.env.example')
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
    expect(new Set(asked)).toEqual(new Set(lines.map((line) => line.split('=')[0])))
    expect(lines.filter((line) => /(?:KEY|PASSWORD)=./.test(line))).toEqual([])
  })

  it('has an image that is no root, has no tools in it and says how it is', () => {
    const stages = textOf('deploy/Dockerfile').split(/^FROM .*$/m)
    const last = stages.at(-1) ?? ''
    expect(stages[1]).toMatch(
      /^COPY ui\/package.json ui\/package.json$[\s\S]*^RUN npm ci$[\s\S]*^RUN npm run build$[\s\S]*^RUN npm ci --omit=dev --workspaces=false$/m,
    )
    expect(last).toMatch(/^USER node$[\s\S]*^HEALTHCHECK /m)
    expect(last.slice(last.indexOf('USER node'))).not.toContain('RUN')
    const { files: shipped } = JSON.parse(textOf('package.json')) as { readonly files: readonly string[] }
    const folders = shipped.filter((name) => /^[a-z]+$/.test(name))
    expect(folders.filter((name) => !last.includes(`/src/${name} `))).toEqual([])
  })

  it('has a unit that gives draining its time, and the signal to the node alone', () => {
    const unit = textOf('deploy/escapement.service')
    expect(Number(/^TimeoutStopSec=(\d+)s$/m.exec(unit)?.[1])).toBeGreaterThan(drainSeconds)
    expect(unit).toMatch(/^KillSignal=SIGTERM\nKillMode=mixed$/m)
    expect(unit).not.toMatch(/^MemoryDenyWriteExecute=yes/m)
  })
})

/** The names of metrics in an expression, each as the table has it. */
const metricsIn = (expression: string): readonly string[] =>
  [...expression.matchAll(/\b(?:escapement|process|nodejs)_[a-z_]+/g)].map(([name]) =>
    name.replace(/(?<=_seconds)_(?:bucket|sum|count)$/, ''),
  )

/** Labels that an expression looks at or groups by, beside those Prometheus adds. */
function labelsIn(expression: string): readonly string[] {
  const grouped = [...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', '))
  const matched = [...expression.matchAll(/[{,]\s*([a-z_]+)=~?"/g)].map(([, name = '']) => name)
  return [...grouped, ...matched].filter((name) => !['job', 'instance', 'le'].includes(name))
}

const specs: Readonly<Record<string, { readonly labels: readonly string[] }>> = METRICS

describe('what is watched', () => {
  const dashboard = JSON.parse(textOf('deploy/grafana/escapement.json')) as {
    readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
  }
  const rules = parse(textOf('deploy/prometheus/alerts.yaml')) as {
    readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
  }
  const questions = [...textOf('docs/concepts/metrics.md').matchAll(/\| `([a-z_]+ ?\(.*)` +\|$/gm)].map(
    ([, e = '']) => e,
  )
  const asked: readonly (readonly [string, string])[] = [
    ...dashboard.panels.flatMap(({ title, targets }) => (targets ?? []).map(({ expr }) => [title, expr] as const)),
    ...rules.groups.flatMap((group) => group.rules.map(({ alert, expr }) => [alert, expr] as const)),
    ...questions.map((expression) => ['docs/concepts/metrics.md', expression] as const),
  ]

  it.each(asked)('%s asks for metrics and labels that there are: %s', (_, expression) => {
    const names = metricsIn(expression)
    expect(names.filter((name) => !Object.hasOwn(METRICS, name))).toEqual([])
    const labels = new Set(names.flatMap((name) => specs[name]?.labels ?? []))
    expect(labelsIn(expression).filter((label) => !labels.has(label))).toEqual([])
    if (names.length === 0) expect(expression).toContain('up{job="escapement"}')
  })

  it('would notice a metric and a label that there are not', () => {
    expect(metricsIn('rate(escapement_run_duration_seconds_bucket[5m])')).toEqual(['escapement_run_duration_seconds'])
    expect(labelsIn('sum by (lane) (x{job="a", state="b"})')).toEqual(['lane', 'state'])
  })

  it('has each alert once, with words for whoever it wakes', () => {
    const names = rules.groups.flatMap((group) => group.rules.map(({ alert }) => alert))
    expect(new Set(names).size).toBe(names.length)
    const guide = textOf('docs/guides/observe.md')
    expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
  })
})
