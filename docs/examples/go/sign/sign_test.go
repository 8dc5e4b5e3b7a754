package sign

import (
	"encoding/json"
	"os"
	"testing"
)

type statement struct{ Payload, Encoded string }

// The signatures are those of docs/vectors.json.
func TestPayload(t *testing.T) {
	text, err := os.ReadFile("../../../vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Signer     struct{ PrivateKey string }
		Statements []statement
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Statements) == 0 {
		t.Fatal("there are no statements")
	}
	for _, vector := range vectors.Statements {
		encoded, err := Payload(vectors.Signer.PrivateKey, vector.Payload)
		if err != nil || encoded != vector.Encoded {
			t.Errorf("%s, %v (expected %s)", encoded, err, vector.Encoded)
		}
	}
}
