import { pathOf } from '../platform/http/request-path.ts'

/**
 * What the router gets to see. No path of ours needs an escape, so one that has any is unknown, as is `*`;
 * left to the router, a broken one would be answered in the framework's own words.
 */
export function routedTarget(target: string): string {
  const path = pathOf(target)
  const query = target.indexOf('?')
  return (/^\/[^%]*$/.test(path) ? path : '/unknown') + (query < 0 ? '' : target.slice(query))
}
