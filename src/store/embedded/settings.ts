import { PORT, type Place } from './place.ts'

/**
 * The server's settings, given at each start rather than written into its files, so that a newer program brings newer
 * ones. Everything that makes a commit durable (fsync, full_page_writes, synchronous_commit) stays as PostgreSQL has it.
 */
export function serverArguments(place: Place): readonly string[] {
  const settings: Readonly<Record<string, string | number>> = {
    // Reachable for nobody but this machine, through one private directory.
    listen_addresses: '',
    port: PORT,
    unix_socket_directories: quoteList(place.socketDirectory),
    unix_socket_permissions: '0700',
    // Each node has about ten. A place that nobody takes costs next to nothing.
    max_connections: 300,
    // Enough to keep the hot tables in memory, little enough for a laptop that has other things to do.
    shared_buffers: '128MB',
    // Our statements are short: compiling them takes longer than running them.
    jit: 'off',
    // For the same reason no parallel plans; they would also need more shared memory than containers have by default.
    max_parallel_workers_per_gather: 0,
    // Statistics of small busy tables age within seconds.
    autovacuum_naptime: '15s',
    // Less often than every 5 minutes: each one makes every page touched afterwards go to the log in full.
    checkpoint_timeout: '15min',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // Nodes come and go; a connection that ends without a goodbye is not worth a line each.
    log_min_messages: 'warning',
    log_checkpoints: 'off',
    cluster_name: 'escapement',
  }
  return ['-D', place.cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** The setting is a list; a path with a comma or a space in it has to be quoted. */
const quoteList = (directory: string): string => `"${directory.replaceAll('"', '""')}"`
