# Shell functions for docs/tutorial.md. In the project folder, while `npm start` runs:
#   . docs/examples/shell.sh
# They need curl and node, in bash or zsh. Data folder: ORGWALLET_DATA_DIR, else .data.

DEMO_FILE="$(cd "${ORGWALLET_DATA_DIR:-.data}" 2> /dev/null && pwd)/demo.json"
[ -f "$DEMO_FILE" ] || echo "${ORGWALLET_DATA_DIR:-.data}/demo.json not found: wait until npm start is ready, in this folder" >&2

# demo 'd.baseUrl': a value of the demo file. person Dave id: a field of a person in it.
demo() { node -p "const d = JSON.parse(require('fs').readFileSync('$DEMO_FILE', 'utf8')); $1"; }
person() { demo "[...d.admins.members, ...d.members].find(({ name }) => name === '$1').$2"; }

API=$(demo d.baseUrl) KEY=$(demo 'd.apiKeys[0].key') CA=$(demo d.caFile) RPC=$(demo 'd.networks[0].rpcUrl')

# get PATH and post PATH BODY: requests with the API key of the demo organization.
get() { curl -sS --cacert "$CA" -H "Authorization: Bearer $KEY" "$API$1"; }
post() {
  curl -sS --cacert "$CA" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
    -H "X-Idempotency-Key: $(node -p 'crypto.randomUUID()')" -d "$2" "$API$1"
}

# field 'data.id': a value of the response on standard input. An error is printed instead of a value.
field() {
  node -e "const text = require('fs').readFileSync(0, 'utf8'); if (!text) process.exit(1);
    const { data, error } = JSON.parse(text); if (error) { console.error(error.code + ': ' + error.message); process.exit(1); }
    console.log($1);"
}

# failures: the conditions that a refused transaction does not meet, one a line.
failures() {
  node -e "const { error } = JSON.parse(require('fs').readFileSync(0, 'utf8')); console.log(error.code + ':');
    for (const { condition, found, wanted } of error.details.failures) console.log('  ' + condition + ' is ' + found + ', permitted is ' + wanted);"
}

# sign Alice "$PAYLOAD": Alice's signature, encoded as the API takes it.
sign() {
  [ -n "$2" ] || { echo "there is nothing to sign" >&2; return 1; }
  printf '%s' "$2" | PRIVATE_KEY=$(person "$1" privateKey) node docs/examples/sign.mjs
}

# rpc METHOD PARAMS: a JSON-RPC call to the first local chain.
rpc() {
  curl -sS -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"'"$1"'","params":'"$2"'}' "$RPC"
  echo
}
