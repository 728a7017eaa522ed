/** The reasons of src/domain/reasons.ts as a table. */
export function renderReasons(reasons) {
  return table(
    ['Code', 'Sentence'],
    Object.entries(reasons).map(([code, sentence]) => [`\`${code}\``, sentence]),
  )
}

/** What does the work of each kind of executor in src/core/executor/kinds. */
export function renderExecutors(executors) {
  return table(
    ['`executor.kind`', 'What does the work'],
    executors.map(({ kind, concept }) => [`\`${kind}\``, concept]),
  )
}

/** How long an attempt may take by kind of executor. */
export function renderTimeouts(executors) {
  return table(
    ['Executor', 'Seconds an attempt may take when nobody has said'],
    executors.map(({ kind, timeoutSeconds }) => [`\`${kind}\``, String(timeoutSeconds)]),
  )
}

/** The error codes of src/domain/run/error-codes.ts as a table. */
export function renderErrorCodes(codes) {
  return table(
    ['Code', 'Meaning', 'Retried unless the executor says otherwise'],
    Object.entries(codes).map(([code, { summary, retryable }]) => [`\`${code}\``, summary, retryable ? 'yes' : 'no']),
  )
}

/** The permissions of src/domain/access/access.ts as a table, with the roles that have them. */
export function renderPermissions(permissions, permissionsOf) {
  const roles = ['owner', 'admin', 'member', 'viewer']
  const held = new Map(roles.map((role) => [role, permissionsOf({ role, scopes: null })]))
  return table(
    ['Permission', 'Lets one', ...roles],
    Object.entries(permissions).map(([permission, meaning]) => [
      `\`${permission}\``,
      meaning,
      ...roles.map((role) => (held.get(role).includes(permission) ? '✓' : '')),
    ]),
  )
}

/** The settings of src/contract/config as a table. */
export function renderSettings(settings) {
  return table(
    ['Setting', 'Default', 'Meaning', 'Allowed', 'Hot'],
    settings.map(({ path, key }) => [
      `\`${path}\``,
      `\`${JSON.stringify(key.default)}\``,
      key.summary,
      key.zeroKeeps ? `${key.allowed}; 0 keeps what is there` : key.allowed,
      key.hot ? '✓' : '',
    ]),
  )
}

/** The settings of the policies of a schedule, of src/contract/schedule-fields.ts, as a table. */
export function renderPolicySettings(settings) {
  return table(
    ['Setting', 'Default', 'Meaning'],
    settings.map(([name, about, usual]) => {
      const [meaning, byDefault] = about.split(' Default: ')
      return [`\`${name}\``, byDefault?.replace(/\.$/, '') ?? [usual].flat().join(', '), meaning]
    }),
  )
}

/** What `escapement doctor` finds, of src/cli/doctor/troubles.ts, as a table. */
export function renderTroubles(troubles) {
  return table(
    ['Finding', 'Of', 'What is so', 'What to do'],
    Object.entries(troubles).map(([code, { what, state, means, advice }]) => [
      `\`${code}\``,
      state === 'bad' ? what : `${what} (warning)`,
      means,
      advice,
    ]),
  )
}

/** Rows as Markdown. */
export function table(head, rows) {
  const line = (row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
