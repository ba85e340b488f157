// Package disrupt decides which machines to give back.
//
// Each way of giving back has a file: expiration ends what has grown too old,
// emptiness what runs nothing. What keeps machines is package hold.
// What could go although pods run there is decided in package consolidate.
package disrupt
