/** The path of an endpoint of charts; `:token` is a chart token. */
export const chartPath = (name: string): string => `/udf/:token/${name}`

export const chartTokenPath = '/udf/token'

const shape = /^\/udf\/([^/]+)\/([^/]+)$/

/** Whether a charting client asked for the path, also where there is no such endpoint. */
export const isOfChart = (path: string): boolean =>
  path.startsWith('/udf/') && onePathOf(path) !== chartTokenPath

/** The path that is routed for one with more slashes: a client adds a slash and a name to an address that may end in one. */
export const onePathOf = (path: string): string =>
  path.startsWith('/udf/') ? path.replaceAll(/\/+/g, '/').replace(/\/$/, '') : path

/** The token in a path; `undefined` for paths without one. */
export const tokenOfPath = (path: string): string | undefined => shape.exec(onePathOf(path))?.[1]

/** The path of a route, with `:token` in place of a token. */
export const withoutToken = (path: string): string =>
  path.replace(shape, (_, _token, name: string) => chartPath(name))
