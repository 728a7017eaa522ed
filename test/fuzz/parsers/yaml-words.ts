/** What YAML is made of, for whatever reads files of it. */
export const YAML_WORDS: readonly string[] = [
  ...['\n', '\n  ', '- ', ': ', '{', '}', '[', ']', '&a', '*a', '<<: *a', '!!binary', '!!set'],
  ...['|', '---', '...', '%YAML 1.1', '? ', '# ', '"', "'", '~', '0o17', '.inf', '2026-01-01'],
]
