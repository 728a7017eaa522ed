import { table } from './tables.mjs'

/** The metrics of src/metrics/catalogue.ts as a table. */
export function renderMetrics(metrics) {
  return table(
    ['Metric', 'Type', 'Of', 'Labels', 'Says'],
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
    ['Method', 'Does', 'Params', 'Answers', 'Needs'],
    Object.entries(methods).map(([name, { summary, takes, answers, permission }]) => [
      `\`${name}\``,
      summary,
      takes,
      answers,
      `\`${permission}\``,
    ]),
  )
}

/** The codes of errors, and which refusals they stand for. */
export function renderRpcErrors({ RPC_ERRORS, rpcCodeOf, REFUSAL_CODES }) {
  const refusals = Object.entries(REFUSAL_CODES)
  return table(
    ['Code', 'Means', '`data.code`'],
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
