/** The reasons of src/domain/reasons.ts as a table. */
export function renderReasons(reasons) {
  return table(
    ['Code', 'Sentence'],
    Object.entries(reasons).map(([code, sentence]) => [`\`${code}\``, sentence]),
  )
}

/** The kinds of executors in src/executors as a table. */
export function renderExecutors(executors) {
  return table(
    ['`executor.kind`', 'Performed by'],
    executors.map(({ kind, concept }) => [`\`${kind}\``, concept]),
  )
}

/** The list prices of src/executors/chat/prices.ts with their date. */
export function renderModelPrices(prices, asOf) {
  const rows = table(
    ['Model', 'Input', 'Cached input', 'Cache write', 'Output'],
    prices.map(({ model, prices: { input, cached_input: cached, cache_write: written, output } }) => [
      `\`${model}\``,
      ...[input, cached, written ?? input, output].map((price) => `$${price}`),
    ]),
  )
  return `List prices of ${asOf} per million tokens:\n\n${rows}`
}

/** The default time limit of an attempt, by kind of executor. */
export function renderTimeouts(executors) {
  return table(
    ['Executor', 'Default `timeout_seconds`'],
    executors.map(({ kind, timeoutSeconds }) => [`\`${kind}\``, String(timeoutSeconds)]),
  )
}

/** The error codes of src/domain/run/error-codes.ts as a table. */
export function renderErrorCodes(codes) {
  return table(
    ['Code', 'Meaning', 'Retried by default'],
    Object.entries(codes).map(([code, { summary, retryable }]) => [`\`${code}\``, summary, retryable ? 'yes' : 'no']),
  )
}

/** The permissions of src/domain/access/access.ts as a table, with the roles that have them. */
export function renderPermissions(permissions, permissionsOf) {
  const roles = ['owner', 'admin', 'member', 'viewer']
  const held = new Map(roles.map((role) => [role, permissionsOf({ role, scopes: null })]))
  return table(
    ['Permission', 'Allows to', ...roles],
    Object.entries(permissions).map(([permission, meaning]) => [
      `\`${permission}\``,
      meaning,
      ...roles.map((role) => (held.get(role).includes(permission) ? '✓' : '')),
    ]),
  )
}

/** The settings of src/platform/config as a table. */
export function renderSettings(settings) {
  return table(
    ['Setting', 'Default', 'Meaning', 'Allowed', 'Hot'],
    settings.map(({ path, key }) => [
      `\`${path}\``,
      `\`${JSON.stringify(key.default)}\``,
      key.summary,
      key.zeroKeeps ? `${key.allowed}; 0 keeps the current value` : key.allowed,
      key.hot ? '✓' : '',
    ]),
  )
}

/** The settings of the policies of a schedule, of src/features/schedules/schema.ts, as a table. */
export function renderPolicySettings(settings) {
  return table(
    ['Setting', 'Default', 'Meaning'],
    settings.map(([name, about, usual]) => {
      const [meaning, byDefault] = about.split(' Default: ')
      return [`\`${name}\``, byDefault?.replace(/\.$/, '') ?? [usual].flat().join(', '), meaning]
    }),
  )
}

/** The findings of `escapement doctor`, from src/cli/doctor/problems.ts, as a table. */
export function renderTroubles(troubles) {
  return table(
    ['Finding', 'Check', 'Meaning', 'What to do'],
    Object.entries(troubles).map(([code, { what, state, means, advice }]) => [
      `\`${code}\``,
      state === 'bad' ? what : `${what} (warning)`,
      means,
      advice,
    ]),
  )
}

/** A Markdown table. */
export function table(head, rows) {
  const line = (row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
