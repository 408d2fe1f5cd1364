// Reads JSON values, one a line, and prints for each what the API server makes of it as the quantity of a
// resource: "<unscaled> <scale>" (unscaled * 10^-scale) after the rounding of SetDefaults_ResourceList in
// k8s.io/kubernetes pkg/apis/core/v1/defaults.go, or "error".
package main

import (
	"bufio"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/json"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var quantity resource.Quantity
		if err := json.Unmarshal(lines.Bytes(), &quantity); err != nil {
			fmt.Fprintln(out, "error")
			continue
		}
		quantity.RoundUp(resource.Milli)
		amount := quantity.AsDec()
		fmt.Fprintln(out, amount.UnscaledBig().String(), amount.Scale())
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
