import { spawn } from 'node:child_process'

const PATIENCE_MS = 60_000

/**
 * Queries the registry for advisories about installed packages: `{kind: 'told', advisories}`, or `{kind: 'not_run', why}` if
 * it doesn't respond. An unreachable registry is neither a finding nor a pass.
 */
export async function askForAdvisories(root) {
  const { output, code } = await run('npm', ['audit', '--json'], root)
  let report
  try {
    report = JSON.parse(output)
  } catch {
    return { kind: 'not_run', why: `npm audit ended with code ${code} and unreadable output` }
  }
  if (report.vulnerabilities === undefined)
    return { kind: 'not_run', why: `the registry does not respond: ${report.message ?? report.error?.summary ?? code}` }
  return { kind: 'told', advisories: advisoriesIn(report) }
}

function run(command, args, cwd) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'], timeout: PATIENCE_MS })
    let output = ''
    child.stdout.on('data', (piece) => (output += piece))
    child.on('error', (error) => resolve({ output: '', code: error.code }))
    child.on('close', (code) => resolve({ output, code }))
  })
}

/** Each advisory once, with the affected packages. */
export function advisoriesIn({ vulnerabilities }) {
  const found = new Map()
  for (const { via, nodes = [] } of Object.values(vulnerabilities))
    for (const one of via) {
      if (typeof one === 'string') continue
      const id = /GHSA-[\w-]+/.exec(one.url ?? '')?.[0] ?? String(one.source)
      const known = found.get(id) ?? { id, name: one.name, title: one.title, severity: one.severity, places: [] }
      found.set(id, { ...known, places: [...new Set([...known.places, ...nodes])] })
    }
  return [...found.values()]
}

/**
 * Compares advisories with the list of accepted ones, each with a reason and an expiry date. Returns `flaws` and
 * informational `notes` as sentences.
 */
export function judgeAdvisories({ advisories, shipped, borne, today }) {
  const [flaws, notes] = [[], []]
  const places = new Set(shipped.map(({ place }) => place))
  for (const { id, name, title, severity, places: where } of advisories) {
    const known = borne.find((one) => one.id === id)
    const text = `${id} (${severity}) about ${name}: ${title}`
    if (known !== undefined && known.expires >= today)
      notes.push(`${text}; accepted until ${known.expires}: ${known.reason}`)
    else if (known !== undefined) flaws.push(`${text}; it was accepted until ${known.expires}, which is over`)
    else if (where.some((place) => places.has(place))) flaws.push(text)
    else notes.push(`${text}; only in tools, not in shipped packages`)
  }
  return { flaws, notes }
}

/** Errors in the list of accepted advisories. */
export function checkBorne(borne, today) {
  return borne.flatMap((one) => {
    const { id, reason, expires } = one
    if (!/^(GHSA(-[23456789cfghjmpqrvwx]{4}){3}|\d+)$/.test(id ?? ''))
      return [`${JSON.stringify(one)} names no advisory`]
    if (typeof reason !== 'string' || reason.length < 20) return [`${id} is accepted without a reason`]
    if (!/^\d{4}-\d{2}-\d{2}$/.test(expires ?? '')) return [`${id} is accepted without an expiry date`]
    return expires < today ? [`${id} was accepted until ${expires}, which is over`] : []
  })
}
