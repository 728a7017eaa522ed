/** The rooms of src/, each with the pattern of its files; no file is in two. */
exports.ROOMS = {
  domain: '^src/domain/',
  'executor kinds':
    '^src/executors/([^/]+/(kind|options|conversation|prices)|kind|kinds|parse-executor|success-when|template)\\.ts$',
  executors:
    '^src/executors/(?!([^/]+/(kind|options|conversation|prices)|kind|kinds|parse-executor|success-when|template)\\.ts$)',
  integrations: '^src/integrations/',
  api: '^src/api/',
  'platform/config': '^src/platform/config/',
  'platform/db': '^src/platform/db/',
  'platform/log': '^src/platform/log/',
  'platform/outbound': '^src/platform/outbound/',
  'platform/yaml': '^src/platform/yaml/',
  platform: '^src/platform/[^/]+\\.ts$',
  schemas: '^src/features/[^/]+/[^/]*schema\\.ts$',
  stores: '^src/(features|engine)/[^/]+/[^/]*store\\.ts$',
  routes: '^src/features/[^/]+/routes\\.ts$',
  commands: '^src/features/[^/]+/cli[^/]*\\.ts$',
  services: '^src/features/[^/]+/(?!routes\\.ts$|cli|[^/]*schema\\.ts$|[^/]*store\\.ts$)',
  engine: '^src/engine/(?![^/]+/[^/]*store\\.ts$)',
  operations: '^src/operations/',
  server: '^src/server/',
  client: '^src/client/',
  library: '^src/library/',
  serve: '^src/serve/',
  cli: '^src/cli/',
  app: '^src/app\\.ts$',
}
