import { table } from './tables.mjs'

/** The metrics of src/server/metrics/catalogue.ts as a table. */
export function renderMetrics(metrics) {
  return table(
    ['Metric', 'Type', 'Scope', 'Labels', 'Description'],
    Object.entries(metrics).map(([name, { type, scope, labels, help }]) => [
      `\`${name}\``,
      type,
      scope,
      labels.map((label) => `\`${label}\``).join(', '),
      help,
    ]),
  )
}

/** The methods of src/server/rpc/methods.ts as a table. */
export function renderRpcMethods(methods) {
  return table(
    ['Method', 'Description', 'Params', 'Result', 'Permission'],
    Object.entries(methods).map(([name, { summary, takes, answers, permission }]) => [
      `\`${name}\``,
      summary,
      takes,
      answers,
      `\`${permission}\``,
    ]),
  )
}

/** The JSON-RPC error codes, and the API error codes they stand for. */
export function renderRpcErrors({ RPC_ERRORS, rpcCodeOf, REFUSAL_CODES }) {
  const refusals = Object.entries(REFUSAL_CODES)
  return table(
    ['Code', 'Meaning', '`data.code`'],
    Object.entries(RPC_ERRORS)
      .toSorted(([a], [b]) => Number(a) - Number(b))
      .map(([code, meaning]) => [
        code,
        meaning,
        refusals
          .filter(([name, status]) => rpcCodeOf({ code: name, status }) === Number(code))
          .map(([name]) => `\`${name}\``)
          .join(', '),
      ]),
  )
}
