/** No waiting helps: this server cannot hold what this fxd keeps. The message says why and what to do. */
export class WrongServer extends Error {}
